// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/llama.hpp"

#include <cmath>

#include "neap/autograd/rematerialise.hpp"
#include "neap/base/raise.hpp"
#include "neap/models/parts.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {

using base::raise;

namespace {

void check_sizes(const LlamaOptions& o) {
  if (o.vocab < 1 || o.block < 1 || o.layers < 1 || o.heads < 1 ||
      o.kv_heads < 1 || o.dim < 1 || o.hidden < 1 || o.head_dim < 0 ||
      o.heads % o.kv_heads != 0) {
    raise<ValueError>(
        "llama: vocab {}, block {}, layers {}, heads {}, kv_heads {}, dim {}, "
        "hidden {}: expected sizes of at least 1, and kv_heads that divide "
        "heads",
        o.vocab, o.block, o.layers, o.heads, o.kv_heads, o.dim, o.hidden);
  }
  if ((o.head_dim == 0 && o.dim % o.heads != 0) || o.width() < 2 ||
      o.width() % 2 != 0) {
    raise<ValueError>(
        "llama: {} heads of {} in {}, expected an even width to rotate",
        o.heads, o.width(), o.dim);
  }
  if (o.window < 0 || o.window_from < 0) {
    raise<ValueError>("llama: a window of {} from layer {} on", o.window,
                      o.window_from);
  }
}

}  // namespace

void check(const LlamaOptions& o) {
  check_sizes(o);
  if (!(o.dropout >= 0.0 && o.dropout < 1.0)) {
    raise<ValueError>("llama: dropout is {}, expected 0 <= p < 1", o.dropout);
  }
  const LlamaRope& rope = o.rope;
  if (!std::isfinite(rope.stretch) || rope.stretch <= 0.0 || rope.trained < 0 ||
      (rope.trained > 0 && (rope.factor < 1.0 || o.width() < 4))) {
    raise<ValueError>(
        "llama: positions stretched by {}, trained up to {} with factor {}",
        rope.stretch, rope.trained, rope.factor);
  }
  if (o.dtype != f32 && o.dtype != f64) {
    raise<DTypeError>("llama: computes in f32 and f64, not in {}",
                      name_of(o.dtype));
  }
  if (o.has_half_weights) {
    check_half_weights("llama", o.is_drawn, o.dtype);
  }
}

namespace {

nn::Sequential layers_of(const LlamaOptions& options, const CallSite& site) {
  nn::Sequential layers;
  for (std::int64_t i = 0; i < options.layers; ++i) {
    layers.push(LlamaLayer(options, i, site));
  }
  return layers;
}

GptHead head_of(const LlamaOptions& options, const Tensor& home,
                const CallSite& site) {
  if (options.tie) {
    return GptHead(home, site);
  }
  GptHead head(options.vocab, options.dim, weights_dtype(options), site);
  if (options.is_drawn) {
    nn::normal_(head.weight(), 0.0, kDeviation, site);
  }
  return head;
}

}  // namespace

LlamaBody::LlamaBody(const LlamaOptions& o, CallSite site)
    : keep_layers_((check(o), o.keep_layers)),
      embed_tokens_(
          embedding_of(o.vocab, o.dim, o.is_drawn, weights_dtype(o), site)),
      layers_(layers_of(o, site)),
      norm_({o.dim}, o.norm_eps, true, o.dtype, site) {
  name_parts();
}

LlamaBody::LlamaBody(const LlamaBody& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      keep_layers_(other.keep_layers_),
      embed_tokens_(other.embed_tokens_, cloning),
      layers_(other.layers_, cloning),
      norm_(other.norm_, cloning) {
  name_parts();
}

void LlamaBody::name_parts() {
  register_module("embed_tokens", embed_tokens_);
  register_module("layers", layers_);
  register_module("norm", norm_);
}

void LlamaBody::each_linear(LinearVisit visit) {
  for (std::int64_t i = 0; i < layers_.size(); ++i) {
    static_cast<LlamaLayer&>(layers_[i]).each_linear(visit);
  }
}

Tensor LlamaBody::forward(const Tensor& tokens) const {
  Tensor x = embed_tokens_(tokens);
  if (keep_layers_) {
    x = layers_(x);
  } else {
    for (std::int64_t i = 0; i < layers_.size(); ++i) {
      nn::Layer& layer = layers_[i];
      x = rematerialise([&layer](const Tensor& in) { return layer(in); })(x);
    }
  }
  return norm_(x);
}

Tensor LlamaBody::decode(const Tensor& tokens, KvPass& pass,
                         CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor x = embed_tokens_(tokens);
  for (std::int64_t i = 0; i < layers_.size(); ++i) {
    x = static_cast<const LlamaLayer&>(layers_[i]).decode(x, pass);
  }
  x = norm_(pass.last_of(x));
  scope.note(x, tokens);
  return x;
}

Llama::Llama(const LlamaOptions& options, CallSite site)
    : options_(options),
      model_(options, site),
      lm_head_(head_of(options, model_.embedding(), site)) {
  name_parts();
}

Llama::Llama(const Llama& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      options_(other.options_),
      model_(other.model_, cloning),
      lm_head_(other.lm_head_, cloning) {
  name_parts();
}

void Llama::name_parts() {
  register_module("model", model_);
  register_module("lm_head", lm_head_);
}

Tensor Llama::forward(const Tensor& tokens) const {
  check_tokens("llama", tokens, options_.block);
  return lm_head_(model_(tokens));
}

Tensor Llama::decode(const Tensor& tokens, KvPass& pass, CallSite site) const {
  check_tokens("llama", tokens, options_.block);
  const std::int64_t trained = options_.rope.trained;
  if (trained > 0 && pass.cache().length() > trained) {
    raise<ValueError>(
        "llama: rows of more than {} tokens turn all of their keys further, "
        "which a cache of {} tokens cannot; make it {} at most",
        trained, pass.cache().length(), trained);
  }
  const nn::ModuleScope scope(*this, site);
  Tensor scores = lm_head_(model_.decode(tokens, pass));
  scope.note(scores, tokens);
  return scores;
}

Tensor Llama::loss(const Tensor& tokens, const Tensor& targets,
                   CallSite site) const {
  check_targets("llama", targets, tokens);
  return mean_loss((*this)(tokens, site), targets, site);
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::LlamaBody>;
template class Cloneable<models::Llama>;
}  // namespace neap::nn
