// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/linear.hpp"

#include <cmath>

#include "neap/base/raise.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/tensor/create.hpp"

namespace neap::nn {

using base::raise;

namespace {

// Counted as parameters from the first byte on, so that a refusal says what was
// asked for.
Tensor for_parameter(const Shape& shape, DType dtype, const CallSite& site) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kParameters; });
  return empty(shape, dtype, site);
}

}  // namespace

Linear::Linear(std::int64_t in, std::int64_t out, bool has_bias, DType dtype,
               CallSite site) {
  if (in <= 0 || out <= 0) {
    raise<ValueError>("Linear: {} inputs and {} outputs, expected at least one",
                      in, out);
  }
  if (dtype != f32 && dtype != f64) {
    raise<DTypeError>("Linear: computes in f32 and f64, not in {}",
                      name_of(dtype));
  }
  weight_ =
      register_parameter("weight", for_parameter({out, in}, dtype, site), site);
  if (has_bias) {
    bias_ = register_parameter("bias", for_parameter({out}, dtype, site), site);
  }
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  uniform_(weight_, -bound, bound, site);
  if (has_bias) {
    uniform_(bias_, -bound, bound, site);
  }
}

Linear::Linear(const Linear& other, Cloning& cloning)
    : Cloneable(other, cloning),
      weight_(parameter("weight")),
      bias_(other.bias_.is_given() ? parameter("bias") : Tensor()) {}

Tensor Linear::forward(const Tensor& x) const {
  return bias_.is_given() ? linear(x, weight_, bias_) : linear(x, weight_);
}

template class Cloneable<Linear>;

}  // namespace neap::nn
