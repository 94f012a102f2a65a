// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// SwiGlu: the gated feed-forward layer.
#pragma once

#include "neap/nn/linear.hpp"

namespace neap::nn {

/// w2(swiglu(w1(x), w3(x))), (..., dim) to the same through `hidden` (Shazeer,
/// arXiv 2002.05202), with linear layers named as LLaMA's: "w1" (the gate),
/// "w2" (back to dim), "w3". Keeps x, the results of w1 and w3, and their
/// swiglu for the derivative.
class NEAP_API SwiGlu : public Cloneable<SwiGlu> {
 public:
  /// THROWS: as Linear.
  SwiGlu(std::int64_t dim, std::int64_t hidden, bool has_bias = false,
         DType dtype = f32, CallSite site = CallSite::here());
  SwiGlu(const SwiGlu& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;

 private:
  void name_parts();

  Linear w1_;
  Linear w2_;
  Linear w3_;
};

extern template class Cloneable<SwiGlu>;

}  // namespace neap::nn
