// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// GroupNorm: each sample normalised over groups of its channels.
#pragma once

#include "neap/nn/layer.hpp"

namespace neap::nn {

/// group_norm with the parameters "weight" (ones at first) and "bias" (zeros at
/// first), of (channels).
class NEAP_API GroupNorm : public Cloneable<GroupNorm> {
 public:
  /// Neither weight nor bias without `is_affine`. THROWS: ValueError unless
  /// groups >= 1 divides channels, and eps >= 0; DTypeError unless f32 or f64;
  /// OutOfMemory.
  GroupNorm(std::int64_t groups, std::int64_t channels, double eps = 1e-5,
            bool is_affine = true, DType dtype = f32,
            CallSite site = CallSite::here());
  GroupNorm(const GroupNorm& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;

  /// Undefined where there is none.
  const Tensor& weight() const noexcept { return weight_; }
  const Tensor& bias() const noexcept { return bias_; }

 private:
  std::int64_t groups_;
  double eps_;
  Tensor weight_;
  Tensor bias_;
};

extern template class Cloneable<GroupNorm>;

}  // namespace neap::nn
