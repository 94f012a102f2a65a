// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/bert_parts.hpp"

#include "neap/models/parts.hpp"
#include "neap/nn/for_parameter.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/indexing/embedding.hpp"
#include "neap/ops/linalg/linear.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {
namespace {

nn::Embedding table_of(const BertOptions& o, std::int64_t rows,
                       const CallSite& site) {
  return embedding_of(rows, o.dim, o.is_drawn, o.dtype, site);
}

nn::LayerNorm norm_of(const BertOptions& o, const CallSite& site) {
  return nn::LayerNorm({o.dim}, o.norm_eps, true, true, o.dtype, site);
}

}  // namespace

EncoderOptions encoder_of(const BertOptions& o) {
  return {.layers = o.layers,
          .heads = o.heads,
          .dim = o.dim,
          .hidden = o.hidden,
          .norm_eps = o.norm_eps,
          .gelu = o.gelu,
          .dropout = o.dropout,
          .attention_dropout = o.attention_dropout,
          .keep_layers = o.keep_layers,
          .dtype = o.dtype,
          .is_drawn = o.is_drawn};
}

nn::Linear class_linear(const BertOptions& o, std::int64_t out,
                        const CallSite& site) {
  return linear_of({o.dim, out, true}, o.is_drawn || o.draws_classes, o.dtype,
                   site);
}

BertEmbeddings::BertEmbeddings(const BertOptions& o, CallSite site)
    : dropout_(o.dropout),
      padding_(o.padding),
      word_embeddings_(table_of(o, o.vocab, site)),
      position_embeddings_(table_of(o, o.block, site)),
      token_type_embeddings_(table_of(o, o.types, site)),
      norm_(norm_of(o, site)) {
  name_parts();
}

BertEmbeddings::BertEmbeddings(const BertEmbeddings& other,
                               nn::Cloning& cloning)
    : Cloneable(other, cloning),
      dropout_(other.dropout_),
      padding_(other.padding_),
      word_embeddings_(other.word_embeddings_, cloning),
      position_embeddings_(other.position_embeddings_, cloning),
      token_type_embeddings_(other.token_type_embeddings_, cloning),
      norm_(other.norm_, cloning) {
  name_parts();
}

void BertEmbeddings::name_parts() {
  register_module("word_embeddings", word_embeddings_);
  register_module("position_embeddings", position_embeddings_);
  register_module("token_type_embeddings", token_type_embeddings_);
  register_module("LayerNorm", norm_);
}

Tensor BertEmbeddings::summed(const Tensor& tokens, const Tensor& types) const {
  Tensor x = embedding(words(), tokens, padding_);
  x = std::move(x) + (types.is_given()
                          ? token_type_embeddings_(types)
                          : narrow(token_type_embeddings_.weight(), 0, 0, 1));
  x = std::move(x) +
      narrow(position_embeddings_.weight(), 0, 0, tokens.shape()[1]);
  return dropout(norm_(x), dropout_, is_training());
}

Tensor BertEmbeddings::forward(const Tensor& tokens) const {
  return summed(tokens, {});
}

Tensor BertEmbeddings::look_up(const BertInputs& inputs, CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y = summed(inputs.tokens, inputs.types);
  scope.note(y, inputs.tokens);
  return y;
}

BertTransform::BertTransform(const BertOptions& o, CallSite site)
    : gelu_(o.gelu),
      dense_(linear_of({o.dim, o.dim, true}, o.is_drawn, o.dtype, site)),
      norm_(norm_of(o, site)) {
  name_parts();
}

BertTransform::BertTransform(const BertTransform& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      gelu_(other.gelu_),
      dense_(other.dense_, cloning),
      norm_(other.norm_, cloning) {
  name_parts();
}

void BertTransform::name_parts() {
  register_module("dense", dense_);
  register_module("LayerNorm", norm_);
}

Tensor BertTransform::forward(const Tensor& x) const {
  return norm_(gelu(dense_(x), gelu_));
}

BertPredictions::BertPredictions(const BertOptions& o, CallSite site)
    : transform_(o, site),
      bias_(register_parameter(
          "bias", nn::for_parameter({o.vocab}, o.dtype, site), site)) {
  if (o.is_drawn) {
    nn::constant_(bias_, 0.0, site);
  }
  register_module("transform", transform_);
}

BertPredictions::BertPredictions(const BertPredictions& other,
                                 nn::Cloning& cloning)
    : Cloneable(other, cloning),
      transform_(other.transform_, cloning),
      bias_(parameter("bias")) {
  register_module("transform", transform_);
}

Tensor BertPredictions::scores(const Tensor& x, const Tensor& words,
                               CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor y = linear(transform_(x), words, bias_);
  scope.note(y, x);
  return y;
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::BertEmbeddings>;
template class Cloneable<models::BertTransform>;
template class Cloneable<models::BertPredictions>;
}  // namespace neap::nn
