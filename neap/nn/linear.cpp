// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/linear.hpp"

#include <cmath>

#include "neap/base/raise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/for_parameter.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/operators.hpp"
#include "neap/tensor/create.hpp"

namespace neap::nn {

using base::raise;

namespace {

// A weight in bf16 is widened as it is read.
DType computing_dtype(const Tensor& weight) {
  return weight.dtype() == bf16 ? f32 : weight.dtype();
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

Linear::Linear(const Tensor& weight, const Tensor& bias, CallSite site) {
  const bool has_bias = bias.is_given();
  if (weight.rank() != 2 ||
      (has_bias && bias.shape() != Shape{weight.shape()[0]})) {
    raise<ShapeError>(
        "Linear: weight {} and bias {}, expected (out, in), (out)",
        format_shape(weight.shape()),
        has_bias ? format_shape(bias.shape()) : "none");
  }
  const DType dtype = computing_dtype(weight);
  if ((dtype != f32 && dtype != f64) || (has_bias && bias.dtype() != dtype)) {
    raise<DTypeError>("Linear: computes in f32 and f64, not in {}",
                      name_of(has_bias ? bias.dtype() : weight.dtype()));
  }
  weight_ = register_parameter("weight", weight, site);
  if (weight.dtype() == bf16) {
    requires_grad_(weight_, false);
  }
  if (has_bias) {
    bias_ = register_parameter("bias", bias, site);
  }
}

Linear::Linear(const Linear& other, Cloning& cloning)
    : Cloneable(other, cloning),
      weight_(parameter("weight")),
      bias_(other.bias_.is_given() ? parameter("bias") : Tensor()) {
  if (other.adapter_) {
    adapter_.emplace(Adapter{other.adapter_->options,
                             LoraFactor(other.adapter_->a, cloning),
                             LoraFactor(other.adapter_->b, cloning)});
    name_adapter();
  }
}

Tensor Linear::forward(const Tensor& x) const {
  Tensor y = bias_.is_given() ? linear(x, weight_, bias_) : linear(x, weight_);
  if (!adapter_) {
    return y;
  }
  const Tensor read = dropout(x, adapter_->options.dropout, is_training());
  return y + adapter_->b(adapter_->a(read)) * adapter_->options.scale();
}

void Linear::adapt(const LoraOptions& options, CallSite site) {
  if (adapter_) {
    raise<ValueError>("Linear: it has an adapter");
  }
  if (options.rank < 1 || !std::isfinite(options.alpha) ||
      !(options.dropout >= 0.0 && options.dropout < 1.0)) {
    raise<ValueError>(
        "Linear: an adapter of rank {}, alpha {} and dropout {}, expected a "
        "rank of at least 1 and 0 <= dropout < 1",
        options.rank, options.alpha, options.dropout);
  }
  const std::int64_t in = weight_.shape()[1];
  const Shape of_a{options.rank, in};
  const Shape of_b{weight_.shape()[0], options.rank};
  const DType dtype = computing_dtype(weight_);
  const Tensor a = for_parameter(of_a, dtype, site);
  const Tensor b = for_parameter(of_b, dtype, site);
  const double bound = 1.0 / std::sqrt(static_cast<double>(in));
  uniform_(a, -bound, bound, site);
  constant_(b, 0.0, site);
  Adapter made{options, LoraFactor(a, site), LoraFactor(b, site)};
  adapter_.emplace(std::move(made));
  name_adapter();
}

void Linear::name_adapter() {
  register_module("lora_A", adapter_->a);
  register_module("lora_B", adapter_->b);
}

double LoraOptions::scale() const noexcept {
  const auto r = static_cast<double>(rank);
  return alpha / (by_root ? std::sqrt(r) : r);
}

LoraFactor::LoraFactor(const Tensor& weight, CallSite site)
    : weight_(register_parameter("weight", weight, site)) {}

LoraFactor::LoraFactor(const LoraFactor& other, Cloning& cloning)
    : Cloneable(other, cloning), weight_(parameter("weight")) {}

Tensor LoraFactor::forward(const Tensor& x) const {
  return linear(x, weight_);
}

template class Cloneable<LoraFactor>;
template class Cloneable<Linear>;

}  // namespace neap::nn
