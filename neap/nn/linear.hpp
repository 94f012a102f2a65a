// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Linear: y = x w^T + b, the fully connected layer.
#pragma once

#include "neap/nn/layer.hpp"

namespace neap::nn {

/// Parameters "weight" (out, in) and, unless told otherwise, "bias" (out), both
/// uniform in +-1 / sqrt(in): kaiming_uniform_ with slope sqrt(5), PyTorch's
/// default. Maps (..., in) to (..., out).
class NEAP_API Linear : public Cloneable<Linear> {
 public:
  /// Draws once from the generator for a parameter; a constructor that throws
  /// has drawn nothing. THROWS: ValueError unless both extents are positive;
  /// DTypeError unless f32 or f64; OutOfMemory.
  Linear(std::int64_t in, std::int64_t out, bool has_bias = true,
         DType dtype = f32, CallSite site = CallSite::here());
  Linear(const Linear& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;

  const Tensor& weight() const noexcept { return weight_; }
  /// Undefined where there is none.
  const Tensor& bias() const noexcept { return bias_; }

 private:
  Tensor weight_;  // (out, in)
  Tensor bias_;    // (out)
};

extern template class Cloneable<Linear>;

}  // namespace neap::nn
