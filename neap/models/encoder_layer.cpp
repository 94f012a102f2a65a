// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/encoder_layer.hpp"

#include "neap/autograd/rematerialise.hpp"
#include "neap/base/raise.hpp"
#include "neap/models/parts.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/sequence/attention.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {

using base::raise;

void check(const EncoderOptions& o, const char* name) {
  if (o.layers < 1 || o.heads < 1 || o.dim < 1 || o.hidden < 1 ||
      o.dim % o.heads != 0) {
    raise<ValueError>(
        "{}: layers {}, heads {}, dim {}, hidden {}: expected sizes of at "
        "least 1, and heads that divide dim",
        name, o.layers, o.heads, o.dim, o.hidden);
  }
  for (const double p : {o.dropout, o.attention_dropout}) {
    if (!(p >= 0.0 && p < 1.0)) {
      raise<ValueError>("{}: dropout is {}, expected 0 <= p < 1", name, p);
    }
  }
  if (o.dtype != f32 && o.dtype != f64) {
    raise<DTypeError>("{}: computes in f32 and f64, not in {}", name,
                      name_of(o.dtype));
  }
}

namespace {

nn::Linear linear_of(const EncoderOptions& o, const Sizes& sizes,
                     const CallSite& site) {
  return linear_of(sizes, o.is_drawn, o.dtype, site);
}

std::optional<nn::LayerNorm> norm_of(const EncoderOptions& o, bool is_there,
                                     const CallSite& site) {
  std::optional<nn::LayerNorm> norm;
  if (is_there) {
    norm.emplace(Shape({o.dim}), o.norm_eps, true, true, o.dtype, site);
  }
  return norm;
}

nn::Sequential layers_of(const EncoderOptions& options, const CallSite& site) {
  nn::Sequential layers;
  for (std::int64_t i = 0; i < options.layers; ++i) {
    layers.push(EncoderLayer(options, site));
  }
  return layers;
}

}  // namespace

EncoderAttention::EncoderAttention(const EncoderOptions& o, CallSite site)
    : heads_(o.heads),
      dropout_(o.attention_dropout),
      query_(linear_of(o, {o.dim, o.dim, o.qkv_bias}, site)),
      key_(linear_of(o, {o.dim, o.dim, o.qkv_bias}, site)),
      value_(linear_of(o, {o.dim, o.dim, o.qkv_bias}, site)) {
  name_parts();
}

EncoderAttention::EncoderAttention(const EncoderAttention& other,
                                   nn::Cloning& cloning)
    : Cloneable(other, cloning),
      heads_(other.heads_),
      dropout_(other.dropout_),
      query_(other.query_, cloning),
      key_(other.key_, cloning),
      value_(other.value_, cloning) {
  name_parts();
}

void EncoderAttention::name_parts() {
  register_module("query", query_);
  register_module("key", key_);
  register_module("value", value_);
}

void EncoderAttention::each_linear(LinearVisit visit) {
  visit(query_);
  visit(key_);
  visit(value_);
}

// (b, t, dim) as a view (b, heads, t, width).
Tensor EncoderAttention::heads_of(const Tensor& projected) const {
  const Shape& shape = projected.shape();
  return permute(
      reshape(projected, {shape[0], shape[1], heads_, shape[2] / heads_}),
      {0, 2, 1, 3});
}

Tensor EncoderAttention::seen(const Tensor& x, const Tensor& mask) const {
  const Tensor y = scaled_dot_product_attention(
      heads_of(query_(x)), heads_of(key_(x)), heads_of(value_(x)),
      {.mask = mask, .dropout = is_training() ? dropout_ : 0.0});
  return reshape(transpose(y, 1, 2), x.shape());
}

Tensor EncoderAttention::forward(const Tensor& x) const {
  return seen(x, {});
}

Tensor EncoderAttention::attend(const Tensor& x, const Tensor& mask,
                                CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y = seen(x, mask);
  scope.note(y, x);
  return y;
}

EncoderSum::EncoderSum(const EncoderOptions& o, std::int64_t in, CallSite site)
    : gelu_(o.gelu),
      dropout_(o.dropout),
      dense_(linear_of(o, {in, o.dim, true}, site)),
      norm_(norm_of(o, !o.is_norm_first, site)) {
  name_parts();
}

EncoderSum::EncoderSum(const EncoderSum& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      gelu_(other.gelu_),
      dropout_(other.dropout_),
      dense_(other.dense_, cloning),
      norm_(copy_of(other.norm_, cloning)) {
  name_parts();
}

void EncoderSum::name_parts() {
  register_module("dense", dense_);
  if (norm_) {
    register_module("LayerNorm", *norm_);
  }
}

void EncoderSum::each_linear(LinearVisit visit) {
  visit(dense_);
}

Tensor EncoderSum::normed(Tensor sum) const {
  return norm_ ? (*norm_)(sum) : std::move(sum);
}

Tensor EncoderSum::forward(const Tensor& y) const {
  return normed(dropout(dense_(y), dropout_, is_training()));
}

Tensor EncoderSum::add(const Tensor& x, const Tensor& y, CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor sum = normed(x + dropout(dense_(y), dropout_, is_training()));
  scope.note(sum, x, y);
  return sum;
}

Tensor EncoderSum::add_gelu(const Tensor& x, const Tensor& y,
                            CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor sum = normed(
      x + dropout(gelu_through(dense_, y, gelu_), dropout_, is_training()));
  scope.note(sum, x, y);
  return sum;
}

EncoderAttentionSum::EncoderAttentionSum(const EncoderOptions& o, CallSite site)
    : is_norm_first_(o.is_norm_first), self_(o, site), output_(o, o.dim, site) {
  name_parts();
}

EncoderAttentionSum::EncoderAttentionSum(const EncoderAttentionSum& other,
                                         nn::Cloning& cloning)
    : Cloneable(other, cloning),
      is_norm_first_(other.is_norm_first_),
      self_(other.self_, cloning),
      output_(other.output_, cloning) {
  name_parts();
}

void EncoderAttentionSum::name_parts() {
  register_module(is_norm_first_ ? "attention" : "self", self_);
  register_module("output", output_);
}

void EncoderAttentionSum::each_linear(LinearVisit visit) {
  self_.each_linear(visit);
  output_.each_linear(visit);
}

Tensor EncoderAttentionSum::forward(const Tensor& x) const {
  return output_.add(x, self_(x));
}

Tensor EncoderAttentionSum::add(const Tensor& x, const Tensor& normed,
                                const Tensor& mask, CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor sum = output_.add(x, self_.attend(normed, mask));
  scope.note(sum, x, normed);
  return sum;
}

EncoderLayer::EncoderLayer(const EncoderOptions& o, CallSite site)
    : attention_(o, site),
      intermediate_("dense", linear_of(o, {o.dim, o.hidden, true}, site)),
      output_(o, o.hidden, site),
      before_(norm_of(o, o.is_norm_first, site)),
      after_(norm_of(o, o.is_norm_first, site)) {
  name_parts();
}

EncoderLayer::EncoderLayer(const EncoderLayer& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      attention_(other.attention_, cloning),
      intermediate_(other.intermediate_, cloning),
      output_(other.output_, cloning),
      before_(copy_of(other.before_, cloning)),
      after_(copy_of(other.after_, cloning)) {
  name_parts();
}

void EncoderLayer::name_parts() {
  register_module("attention", attention_);
  register_module("intermediate", intermediate_);
  register_module("output", output_);
  if (before_) {
    register_module("layernorm_before", *before_);
    register_module("layernorm_after", *after_);
  }
}

void EncoderLayer::each_linear(LinearVisit visit) {
  attention_.each_linear(visit);
  visit(intermediate_.child());
  output_.each_linear(visit);
}

Tensor EncoderLayer::transformed(const Tensor& x, const Tensor& mask) const {
  const Tensor y = attention_.add(x, before_ ? (*before_)(x) : x, mask);
  return output_.add_gelu(y, intermediate_(after_ ? (*after_)(y) : y));
}

Tensor EncoderLayer::forward(const Tensor& x) const {
  return transformed(x, {});
}

Tensor EncoderLayer::run(const Tensor& x, const Tensor& mask,
                         CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y = transformed(x, mask);
  scope.note(y, x);
  return y;
}

Encoder::Encoder(const EncoderOptions& options, CallSite site)
    : keep_layers_(options.keep_layers), layer_(layers_of(options, site)) {
  register_module("layer", layer_);
}

Encoder::Encoder(const Encoder& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      keep_layers_(other.keep_layers_),
      layer_(other.layer_, cloning) {
  register_module("layer", layer_);
}

void Encoder::each_linear(LinearVisit visit) {
  for (std::int64_t i = 0; i < layer_.size(); ++i) {
    static_cast<EncoderLayer&>(layer_[i]).each_linear(visit);
  }
}

Tensor Encoder::through_layers(Tensor x, const Tensor& mask) const {
  for (std::int64_t i = 0; i < layer_.size(); ++i) {
    const auto& layer = static_cast<const EncoderLayer&>(layer_[i]);
    if (keep_layers_) {
      x = layer.run(x, mask);
    } else {
      x = rematerialise(
          [&layer, mask](const Tensor& in) { return layer.run(in, mask); })(x);
    }
  }
  return x;
}

Tensor Encoder::forward(const Tensor& x) const {
  return through_layers(x, {});
}

Tensor Encoder::run(const Tensor& x, const Tensor& mask, CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y = through_layers(x, mask);
  scope.note(y, x);
  return y;
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::EncoderAttention>;
template class Cloneable<models::EncoderSum>;
template class Cloneable<models::EncoderAttentionSum>;
template class Cloneable<models::EncoderLayer>;
template class Cloneable<models::Encoder>;
}  // namespace neap::nn
