// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/swiglu.hpp"

#include "neap/ops/activation/swiglu.hpp"

namespace neap::nn {

SwiGlu::SwiGlu(std::int64_t dim, std::int64_t hidden, bool has_bias,
               DType dtype, CallSite site)
    : w1_(dim, hidden, has_bias, dtype, site),
      w2_(hidden, dim, has_bias, dtype, site),
      w3_(dim, hidden, has_bias, dtype, site) {
  name_parts();
}

SwiGlu::SwiGlu(const SwiGlu& other, Cloning& cloning)
    : Cloneable(other, cloning),
      w1_(other.w1_, cloning),
      w2_(other.w2_, cloning),
      w3_(other.w3_, cloning) {
  name_parts();
}

void SwiGlu::name_parts() {
  register_module("w1", w1_);
  register_module("w2", w2_);
  register_module("w3", w3_);
}

Tensor SwiGlu::forward(const Tensor& x) const {
  return w2_(swiglu(w1_(x), w3_(x)));
}

template class Cloneable<SwiGlu>;

}  // namespace neap::nn
