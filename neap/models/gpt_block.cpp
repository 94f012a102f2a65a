// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/gpt_block.hpp"

#include "neap/ops/dropout.hpp"
#include "neap/ops/operators.hpp"

namespace neap::models {
namespace {

nn::LayerNorm norm_of(const GptOptions& options, const CallSite& site) {
  return nn::LayerNorm({options.dim}, 1e-5, true, options.bias, options.dtype,
                       site);
}

}  // namespace

GptMlp::GptMlp(const GptOptions& options, CallSite site)
    : gelu_(options.gelu),
      dropout_(options.dropout),
      c_fc_(options.dim, 4 * options.dim, options.bias, options.dtype, site),
      c_proj_(4 * options.dim, options.dim, options.bias, options.dtype, site) {
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
  add("c_fc", c_fc_);
  add("c_proj", c_proj_);
}

Tensor GptMlp::forward(const Tensor& x) {
  return dropout(c_proj_(gelu(c_fc_(x), gelu_)), dropout_, is_training());
}

GptBlock::GptBlock(const GptOptions& options, CallSite site)
    : ln_1_(norm_of(options, site)),
      attn_(options, site),
      ln_2_(norm_of(options, site)),
      mlp_(options, site) {
  name_parts();
}

GptBlock::GptBlock(const GptBlock& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      ln_1_(other.ln_1_, cloning),
      attn_(other.attn_, cloning),
      ln_2_(other.ln_2_, cloning),
      mlp_(other.mlp_, cloning) {
  name_parts();
}

void GptBlock::name_parts() {
  add("ln_1", ln_1_);
  add("attn", attn_);
  add("ln_2", ln_2_);
  add("mlp", mlp_);
}

Tensor GptBlock::forward(const Tensor& x) {
  const Tensor y = x + attn_(ln_1_(x));
  return y + mlp_(ln_2_(y));
}

}  // namespace neap::models
