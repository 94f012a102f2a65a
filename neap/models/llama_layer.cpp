// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/llama_layer.hpp"

#include <cmath>

#include "neap/models/parts.hpp"
#include "neap/ops/activation/swiglu.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/sequence/attention.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

nn::Linear projection(const LlamaOptions& o, const Sizes& sizes,
                      const CallSite& site) {
  return linear_of(sizes, o.is_drawn, weights_dtype(o), site);
}

}  // namespace

LlamaAttention::LlamaAttention(const LlamaOptions& o, std::int64_t layer,
                               CallSite site)
    : heads_((check(o), o.heads)),
      kv_heads_(o.kv_heads),
      width_(o.width()),
      window_(layer >= o.window_from ? o.window : 0),
      dropout_(o.dropout),
      rope_(o.rope),
      q_proj_(projection(o, {o.dim, heads_ * width_, o.qkv_bias}, site)),
      k_proj_(projection(o, {o.dim, kv_heads_ * width_, o.qkv_bias}, site)),
      v_proj_(projection(o, {o.dim, kv_heads_ * width_, o.qkv_bias}, site)),
      o_proj_(projection(o, {heads_ * width_, o.dim, o.out_bias}, site)) {
  name_parts();
}

LlamaAttention::LlamaAttention(const LlamaAttention& other,
                               nn::Cloning& cloning)
    : Cloneable(other, cloning),
      heads_(other.heads_),
      kv_heads_(other.kv_heads_),
      width_(other.width_),
      window_(other.window_),
      dropout_(other.dropout_),
      rope_(other.rope_),
      q_proj_(other.q_proj_, cloning),
      k_proj_(other.k_proj_, cloning),
      v_proj_(other.v_proj_, cloning),
      o_proj_(other.o_proj_, cloning) {
  name_parts();
}

void LlamaAttention::name_parts() {
  register_module("q_proj", q_proj_);
  register_module("k_proj", k_proj_);
  register_module("v_proj", v_proj_);
  register_module("o_proj", o_proj_);
}

void LlamaAttention::each_linear(LinearVisit visit) {
  visit(q_proj_);
  visit(k_proj_);
  visit(v_proj_);
  visit(o_proj_);
}

RotaryOptions LlamaAttention::rotation(std::int64_t t) const {
  RotaryOptions options{.base = rope_.base};
  if (rope_.trained > 0) {  // dynamic
    if (t > rope_.trained) {
      const auto d = static_cast<double>(width_);
      const double longer =
          static_cast<double>(t) / static_cast<double>(rope_.trained);
      options.base *=
          std::pow(rope_.factor * longer - rope_.factor + 1.0, d / (d - 2.0));
    }
    return options;
  }
  options.scaling = rope_.scaling;
  options.factor = rope_.factor;
  options.low = rope_.low;
  options.high = rope_.high;
  return options;
}

// (b, t, heads width) as a view (b, heads, t, width).
Tensor LlamaAttention::heads_of(const Tensor& projected,
                                std::int64_t heads) const {
  const Shape& shape = projected.shape();
  return permute(reshape(projected, {shape[0], shape[1], heads, width_}),
                 {0, 2, 1, 3});
}

AttentionOptions LlamaAttention::scores() const {
  AttentionOptions options{.enable_gqa = kv_heads_ != heads_};
  if (rope_.stretch != 1.0) {
    options.scale =
        rope_.stretch * rope_.stretch / std::sqrt(static_cast<double>(width_));
  }
  return options;
}

// (b, heads, t, width) side by side, and through o_proj.
Tensor LlamaAttention::project_back(const Tensor& y) const {
  return o_proj_(reshape(transpose(y, 1, 2),
                         {y.shape()[0], y.shape()[2], heads_ * width_}));
}

Tensor LlamaAttention::forward(const Tensor& x) const {
  const std::int64_t t = x.shape()[1];
  const RotaryOptions turn = rotation(t);
  AttentionOptions options = scores();
  options.mask = window_mask(t, window_);
  options.is_causal = true;
  options.dropout = is_training() ? dropout_ : 0.0;
  return project_back(scaled_dot_product_attention(
      rotary_embedding(heads_of(q_proj_(x), heads_), turn),
      rotary_embedding(heads_of(k_proj_(x), kv_heads_), turn),
      heads_of(v_proj_(x), kv_heads_), options));
}

Tensor LlamaAttention::decode(const Tensor& x, KvPass& pass,
                              CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  const RotaryOptions turn = rotation(1);
  Tensor y = project_back(
      pass.attend(pass.turned(heads_of(q_proj_(x), heads_), turn),
                  pass.turned(heads_of(k_proj_(x), kv_heads_), turn),
                  heads_of(v_proj_(x), kv_heads_), scores(), window_));
  scope.note(y, x);
  return y;
}

LlamaMlp::LlamaMlp(const LlamaOptions& o, CallSite site)
    : gate_proj_(projection(o, {o.dim, o.hidden, o.mlp_bias}, site)),
      up_proj_(projection(o, {o.dim, o.hidden, o.mlp_bias}, site)),
      down_proj_(projection(o, {o.hidden, o.dim, o.mlp_bias}, site)) {
  name_parts();
}

LlamaMlp::LlamaMlp(const LlamaMlp& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      gate_proj_(other.gate_proj_, cloning),
      up_proj_(other.up_proj_, cloning),
      down_proj_(other.down_proj_, cloning) {
  name_parts();
}

void LlamaMlp::name_parts() {
  register_module("gate_proj", gate_proj_);
  register_module("up_proj", up_proj_);
  register_module("down_proj", down_proj_);
}

void LlamaMlp::each_linear(LinearVisit visit) {
  visit(gate_proj_);
  visit(up_proj_);
  visit(down_proj_);
}

Tensor LlamaMlp::forward(const Tensor& x) const {
  return down_proj_(swiglu(gate_proj_(x), up_proj_(x)));
}

LlamaLayer::LlamaLayer(const LlamaOptions& o, std::int64_t layer, CallSite site)
    : self_attn_(o, layer, site),
      mlp_(o, site),
      input_layernorm_({o.dim}, o.norm_eps, true, o.dtype, site),
      post_attention_layernorm_({o.dim}, o.norm_eps, true, o.dtype, site) {
  name_parts();
}

LlamaLayer::LlamaLayer(const LlamaLayer& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      self_attn_(other.self_attn_, cloning),
      mlp_(other.mlp_, cloning),
      input_layernorm_(other.input_layernorm_, cloning),
      post_attention_layernorm_(other.post_attention_layernorm_, cloning) {
  name_parts();
}

void LlamaLayer::name_parts() {
  register_module("self_attn", self_attn_);
  register_module("mlp", mlp_);
  register_module("input_layernorm", input_layernorm_);
  register_module("post_attention_layernorm", post_attention_layernorm_);
}

void LlamaLayer::each_linear(LinearVisit visit) {
  self_attn_.each_linear(visit);
  mlp_.each_linear(visit);
}

Tensor LlamaLayer::forward(const Tensor& x) const {
  const Tensor y = x + self_attn_(input_layernorm_(x));
  return y + mlp_(post_attention_layernorm_(y));
}

Tensor LlamaLayer::decode(const Tensor& x, KvPass& pass, CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y = x + self_attn_.decode(input_layernorm_(x), pass);
  y = y + mlp_(post_attention_layernorm_(y));
  scope.note(y, x);
  return y;
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::LlamaAttention>;
template class Cloneable<models::LlamaMlp>;
template class Cloneable<models::LlamaLayer>;
}  // namespace neap::nn
