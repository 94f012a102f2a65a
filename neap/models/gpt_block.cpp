// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/gpt_block.hpp"

#include "neap/base/ceil_div.hpp"
#include "neap/models/parts.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/operators.hpp"

namespace neap::models {
namespace {

// Three matrices of so many rows have the weights of two of 4 dim; whole
// vectors.
std::int64_t gated_width(std::int64_t dim) {
  constexpr std::int64_t kUnit = 16;
  return base::ceil_div(8 * dim / 3, kUnit) * kUnit;
}

}  // namespace

GptMlp::GptMlp(const GptOptions& options, CallSite site)
    : gelu_(options.gelu),
      dropout_(options.dropout),
      c_fc_(gpt_linear_of({options.dim, 4 * options.dim, options.bias}, options,
                          site)),
      c_proj_(gpt_linear_of({4 * options.dim, options.dim, options.bias},
                            options, site)) {
  name_parts();
}

GptMlp::GptMlp(const GptMlp& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      gelu_(other.gelu_),
      dropout_(other.dropout_),
      c_fc_(other.c_fc_, cloning),
      c_proj_(other.c_proj_, cloning) {
  name_parts();
}

void GptMlp::name_parts() {
  register_module("c_fc", c_fc_);
  register_module("c_proj", c_proj_);
}

void GptMlp::each_linear(LinearVisit visit) {
  visit(c_fc_);
  visit(c_proj_);
}

void GptBlock::each_linear(LinearVisit visit) {
  attn_.each_linear(visit);
  if (mlp_) {
    mlp_->each_linear(visit);
  }
}

Tensor GptMlp::forward(const Tensor& x) const {
  return dropout(through_gelu(c_fc_(x)), dropout_, is_training());
}

Tensor GptMlp::after(const GptNorm& norm, const Tensor& x,
                     CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y =
      dropout(through_gelu(norm.then(c_fc_, x)), dropout_, is_training());
  scope.note(y, x);
  return y;
}

// c_proj of gelu, which is not kept.
Tensor GptMlp::through_gelu(const Tensor& x) const {
  return gelu_through(c_proj_, x, gelu_);
}

GptBlock::GptBlock(const GptOptions& options, CallSite site)
    : keep_(options.keep),
      ln_1_(options, site),
      attn_(options, site),
      ln_2_(options, site),
      dropout_(options.dropout) {
  if (options.mlp == GptFeedForward::kGelu) {
    mlp_.emplace(options, site);
  } else {
    swiglu_.emplace(options.dim, gated_width(options.dim), options.bias,
                    options.dtype, site);
  }
  name_parts();
}

GptBlock::GptBlock(const GptBlock& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      keep_(other.keep_),
      ln_1_(other.ln_1_, cloning),
      attn_(other.attn_, cloning),
      ln_2_(other.ln_2_, cloning),
      mlp_(copy_of(other.mlp_, cloning)),
      swiglu_(copy_of(other.swiglu_, cloning)),
      dropout_(other.dropout_) {
  name_parts();
}

void GptBlock::name_parts() {
  register_module("ln_1", ln_1_);
  register_module("attn", attn_);
  register_module("ln_2", ln_2_);
  if (mlp_) {
    register_module("mlp", *mlp_);
  } else {
    register_module("mlp", *swiglu_);
  }
}

Tensor GptBlock::forward(const Tensor& x) const {
  const bool keeps_norms = keep_ != GptKeep::kProducts;
  return add_mlp(x + (keeps_norms ? attn_(ln_1_(x)) : attn_.after(ln_1_, x)));
}

Tensor GptBlock::decode(const Tensor& x, KvPass& pass, CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y = add_mlp(x + attn_.decode(ln_1_(x), pass));
  scope.note(y, x);
  return y;
}

Tensor GptBlock::add_mlp(const Tensor& y) const {
  if (swiglu_) {
    return y + dropout((*swiglu_)(ln_2_(y)), dropout_, is_training());
  }
  const bool keeps_norms = keep_ != GptKeep::kProducts;
  return y + (keeps_norms ? (*mlp_)(ln_2_(y)) : mlp_->after(ln_2_, y));
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::GptMlp>;
template class Cloneable<models::GptBlock>;
}  // namespace neap::nn
