// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/vit.hpp"

#include "neap/base/raise.hpp"
#include "neap/models/parts.hpp"
#include "neap/nn/for_parameter.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {

using base::raise;

namespace {

EncoderOptions encoder_of(const VitOptions& o) {
  return {.layers = o.layers,
          .heads = o.heads,
          .dim = o.dim,
          .hidden = o.hidden,
          .is_norm_first = true,
          .norm_eps = o.norm_eps,
          .qkv_bias = o.qkv_bias,
          .gelu = o.gelu,
          .dropout = o.dropout,
          .attention_dropout = o.attention_dropout,
          .keep_layers = o.keep_layers,
          .dtype = o.dtype,
          .is_drawn = o.is_drawn};
}

Tensor table_of(const VitOptions& o, std::int64_t rows, const CallSite& site) {
  Tensor table = nn::for_parameter({1, rows, o.dim}, o.dtype, site);
  if (o.is_drawn) {
    nn::normal_(table, 0.0, kDeviation, site);
  }
  return table;
}

nn::Conv2d patches_of(const VitOptions& o, const CallSite& site) {
  nn::Conv2d patches(o.channels, o.dim, o.patch, {.stride = o.patch}, true,
                     o.dtype, site);
  nn::normal_(patches.weight(), 0.0, kDeviation, site);
  nn::constant_(patches.bias(), 0.0, site);
  return patches;
}

}  // namespace

void check(const VitOptions& o) {
  check(encoder_of(o), "vit");
  if (o.image < 1 || o.patch < 1 || o.channels < 1 || o.classes < 0 ||
      o.image % o.patch != 0) {
    raise<ValueError>(
        "vit: images of {} in patches of {}, channels {}, classes {}: expected "
        "patches that divide an image, and sizes of at least 1",
        o.image, o.patch, o.channels, o.classes);
  }
}

VitEmbeddings::VitEmbeddings(const VitOptions& o, CallSite site)
    : dropout_(o.dropout),
      cls_token_(register_parameter("cls_token", table_of(o, 1, site), site)),
      position_embeddings_(register_parameter(
          "position_embeddings", table_of(o, o.tokens(), site), site)),
      patch_embeddings_("projection", patches_of(o, site)) {
  register_module("patch_embeddings", patch_embeddings_);
}

VitEmbeddings::VitEmbeddings(const VitEmbeddings& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      dropout_(other.dropout_),
      cls_token_(parameter("cls_token")),
      position_embeddings_(parameter("position_embeddings")),
      patch_embeddings_(other.patch_embeddings_, cloning) {
  register_module("patch_embeddings", patch_embeddings_);
}

Tensor VitEmbeddings::forward(const Tensor& images) const {
  const Tensor patches = patch_embeddings_(images);  // (b, dim, h, w)
  const std::int64_t b = patches.shape()[0];
  const std::int64_t dim = patches.shape()[1];
  const Tensor tokens = concat(
      {expand(cls_token_, {b, 1, dim}), transpose(flatten(patches, 2), 1, 2)},
      1);
  return dropout(tokens + position_embeddings_, dropout_, is_training());
}

VitBody::VitBody(const VitOptions& o, CallSite site)
    : embeddings_((check(o), o), site),
      encoder_(encoder_of(o), site),
      layernorm_({o.dim}, o.norm_eps, true, true, o.dtype, site) {
  name_parts();
}

VitBody::VitBody(const VitBody& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      embeddings_(other.embeddings_, cloning),
      encoder_(other.encoder_, cloning),
      layernorm_(other.layernorm_, cloning) {
  name_parts();
}

void VitBody::name_parts() {
  register_module("embeddings", embeddings_);
  register_module("encoder", encoder_);
  register_module("layernorm", layernorm_);
}

Tensor VitBody::forward(const Tensor& images) const {
  return layernorm_(encoder_(embeddings_(images)));
}

Vit::Vit(const VitOptions& o, CallSite site) : options_(o), vit_(o, site) {
  if (o.classes > 0) {
    classifier_.emplace(linear_of({o.dim, o.classes, true},
                                  o.is_drawn || o.draws_classes, o.dtype,
                                  site));
  }
  name_parts();
}

Vit::Vit(const Vit& other, nn::Cloning& cloning)
    : Cloneable(other, cloning),
      options_(other.options_),
      vit_(other.vit_, cloning),
      classifier_(copy_of(other.classifier_, cloning)) {
  name_parts();
}

void Vit::name_parts() {
  register_module("vit", vit_);
  if (classifier_) {
    register_module("classifier", *classifier_);
  }
}

Tensor Vit::forward(const Tensor& images) const {
  const Shape& shape = images.shape();
  if (images.rank() != 4 || shape[1] != options_.channels ||
      shape[2] != options_.image || shape[3] != options_.image) {
    raise<ShapeError>("vit: images {}, expected (b, {}, {}, {})",
                      format_shape(shape), options_.channels, options_.image,
                      options_.image);
  }
  Tensor x = vit_(images);
  return classifier_ ? (*classifier_)(select(x, 1, 0)) : x;
}

}  // namespace neap::models

namespace neap::nn {
template class Cloneable<models::VitEmbeddings>;
template class Cloneable<models::VitBody>;
template class Cloneable<models::Vit>;
}  // namespace neap::nn
