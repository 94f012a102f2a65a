// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/norm.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/ops/norm/layer_norm.hpp"
#include "neap/ops/norm/rms_norm.hpp"
#include "neap/tensor/create.hpp"

namespace neap::nn {

using base::raise;

namespace {

void check(const char* layer, const Shape& shape, double eps, DType dtype) {
  if (shape.rank() == 0 || std::any_of(shape.begin(), shape.end(),
                                       [](std::int64_t n) { return n <= 0; })) {
    raise<ShapeError>("{}: normalized_shape {}, expected positive extents",
                      layer, format_shape(shape));
  }
  if (!(eps >= 0.0)) {
    raise<ValueError>("{}: eps is {}, expected 0 or more", layer, eps);
  }
  if (dtype != f32 && dtype != f64) {
    raise<DTypeError>("{}: computes in f32 and f64, not in {}", layer,
                      name_of(dtype));
  }
}

// Counted as a parameter from the first byte on, so that a refusal says what
// was asked for.
Tensor filled(const Shape& shape, double value, DType dtype,
              const CallSite& site) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kParameters; });
  return full(shape, value, dtype, site);
}

}  // namespace

LayerNorm::LayerNorm(const Shape& normalized_shape, double eps, bool is_affine,
                     bool has_bias, DType dtype, CallSite site)
    : normalized_shape_(normalized_shape), eps_(eps) {
  check("LayerNorm", normalized_shape, eps, dtype);
  if (is_affine) {
    weight_ = register_parameter(
        "weight", filled(normalized_shape, 1.0, dtype, site), site);
  }
  if (is_affine && has_bias) {
    bias_ = register_parameter(
        "bias", filled(normalized_shape, 0.0, dtype, site), site);
  }
}

LayerNorm::LayerNorm(const LayerNorm& other, Cloning& cloning)
    : Cloneable(other, cloning),
      normalized_shape_(other.normalized_shape_),
      eps_(other.eps_),
      weight_(other.weight_.is_given() ? parameter("weight") : Tensor()),
      bias_(other.bias_.is_given() ? parameter("bias") : Tensor()) {}

Tensor LayerNorm::forward(const Tensor& x) const {
  return layer_norm(x, normalized_shape_, weight_, bias_, eps_);
}

RMSNorm::RMSNorm(const Shape& normalized_shape, std::optional<double> eps,
                 bool is_affine, DType dtype, CallSite site)
    : normalized_shape_(normalized_shape), eps_(eps) {
  check("RMSNorm", normalized_shape, eps.value_or(0.0), dtype);
  if (is_affine) {
    weight_ = register_parameter(
        "weight", filled(normalized_shape, 1.0, dtype, site), site);
  }
}

RMSNorm::RMSNorm(const RMSNorm& other, Cloning& cloning)
    : Cloneable(other, cloning),
      normalized_shape_(other.normalized_shape_),
      eps_(other.eps_),
      weight_(other.weight_.is_given() ? parameter("weight") : Tensor()) {}

Tensor RMSNorm::forward(const Tensor& x) const {
  return rms_norm(x, normalized_shape_, weight_, eps_);
}

template class Cloneable<LayerNorm>;
template class Cloneable<RMSNorm>;

}  // namespace neap::nn
