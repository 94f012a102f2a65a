// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/bert.hpp"

#include "neap/base/raise.hpp"
#include "neap/models/bert_parts.hpp"
#include "neap/models/parts.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {

using base::raise;

void check(const BertOptions& o) {
  check(encoder_of(o), "bert");
  if (o.vocab < 1 || o.block < 1 || o.types < 1 ||
      (o.head == BertHead::kClasses && o.classes < 1)) {
    raise<ValueError>(
        "bert: vocab {}, block {}, types {}, classes {}: expected sizes of at "
        "least 1",
        o.vocab, o.block, o.types, o.classes);
  }
  if (o.padding && (*o.padding < 0 || *o.padding >= o.vocab)) {
    raise<ValueError>("bert: padding {} of {} tokens", *o.padding, o.vocab);
  }
  if (!(o.head_dropout >= 0.0 && o.head_dropout < 1.0)) {
    raise<ValueError>("bert: dropout is {}, expected 0 <= p < 1",
                      o.head_dropout);
  }
}

BertBody::BertBody(const BertOptions& o, CallSite site)
    : embeddings_((check(o), o), site), encoder_(encoder_of(o), site) {
  if (o.head == BertHead::kClasses) {
    pooler_.emplace("dense", class_linear(o, o.dim, site));
  }
  name_parts();
}

BertBody::BertBody(const BertBody& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      embeddings_(other.embeddings_, cloning),
      encoder_(other.encoder_, cloning),
      pooler_(copy_of(other.pooler_, cloning)) {
  name_parts();
}

void BertBody::name_parts() {
  register_module("embeddings", embeddings_);
  register_module("encoder", encoder_);
  if (pooler_) {
    register_module("pooler", *pooler_);
  }
}

void BertBody::each_linear(LinearVisit visit) {
  encoder_.each_linear(visit);
  if (pooler_) {
    visit(pooler_->child());
  }
}

Tensor BertBody::forward(const Tensor& tokens) const {
  return encoder_(embeddings_(tokens));
}

Tensor BertBody::run(const BertInputs& inputs, CallSite site) const {
  const nn::ModuleScope scope(*this, site);
  Tensor mask;
  if (inputs.mask.is_given()) {
    const Shape& shape = inputs.mask.shape();
    mask = reshape(inputs.mask, {shape[0], 1, 1, shape[1]});
  }
  Tensor y = encoder_.run(embeddings_.look_up(inputs), mask);
  scope.note(y, inputs.tokens);
  return y;
}

Tensor BertBody::pool(const Tensor& x, CallSite site) const {
  if (!pooler_) {
    raise<ValueError>("bert: its head is not for classes, so it has no pooler");
  }
  const nn::ModuleScope scope(*this, site);
  Tensor y = tanh((*pooler_)(select(x, 1, 0)));
  scope.note(y, x);
  return y;
}

Bert::Bert(const BertOptions& options, CallSite site)
    : options_(options), bert_(options, site) {
  if (options.head == BertHead::kClasses) {
    classifier_.emplace(class_linear(options, options.classes, site));
  } else if (options.head == BertHead::kTokens) {
    cls_.emplace("predictions", BertPredictions(options, site));
  }
  name_parts();
}

Bert::Bert(const Bert& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      options_(other.options_),
      bert_(other.bert_, cloning),
      classifier_(copy_of(other.classifier_, cloning)),
      cls_(copy_of(other.cls_, cloning)) {
  name_parts();
}

void Bert::name_parts() {
  register_module("bert", bert_);
  if (classifier_) {
    register_module("classifier", *classifier_);
  }
  if (cls_) {
    register_module("cls", *cls_);
  }
}

void Bert::each_linear(LinearVisit visit) {
  bert_.each_linear(visit);
  if (cls_) {
    cls_->child().each_linear(visit);
  }
}

Tensor Bert::through_head(const Tensor& x) const {
  if (cls_) {
    return cls_->child().scores(x, bert_.words());
  }
  if (classifier_) {
    return (*classifier_)(
        dropout(bert_.pool(x), options_.head_dropout, is_training()));
  }
  return x;
}

Tensor Bert::forward(const Tensor& tokens) const {
  if (tokens.rank() == 3 && tokens.shape()[1] == 2) {
    return run(
        {.tokens = select(tokens, 1, 0), .mask = ne(select(tokens, 1, 1), 0)});
  }
  check_tokens("bert", tokens, options_.block);
  return through_head(bert_(tokens));
}

void Bert::check_inputs(const BertInputs& inputs) const {
  check_tokens("bert", inputs.tokens, options_.block);
  for (const Tensor* other : {&inputs.types, &inputs.mask}) {
    if (other->is_given() && other->shape() != inputs.tokens.shape()) {
      raise<ShapeError>("bert: {} {} for tokens {}",
                        other == &inputs.mask ? "a mask" : "types",
                        format_shape(other->shape()),
                        format_shape(inputs.tokens.shape()));
    }
  }
  if (inputs.mask.is_given() && inputs.mask.dtype() != DType::kBool) {
    raise<DTypeError>(
        "bert: a mask of {}, expected bool: true for a token, false for "
        "padding",
        name_of(inputs.mask.dtype()));
  }
}

Tensor Bert::run(const BertInputs& inputs, CallSite site) const {
  check_inputs(inputs);
  const nn::ModuleScope scope(*this, site);
  Tensor y = through_head(bert_.run(inputs));
  scope.note(y, inputs.tokens);
  return y;
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::BertBody>;
template class Cloneable<models::Bert>;
}  // namespace neap::nn
