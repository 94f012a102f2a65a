// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Vit: a vision transformer (Dosovitskiy et al., arXiv 2010.11929), with the
// names that Hugging Face's files have:
//
//   vit.embeddings    cls_token, position_embeddings,
//                     patch_embeddings.projection
//   vit.encoder       layer.0 ..., as encoder_layer.hpp has them
//   vit.layernorm
//   classifier
//
//   models::Vit model({.image = 32, .patch = 4, .layers = 6, .heads = 4,
//                      .dim = 192, .hidden = 768, .classes = 10});
//   Tensor scores = model(images);
#pragma once

#include <optional>

#include "neap/models/encoder_layer.hpp"
#include "neap/nn/conv.hpp"

namespace neap::models {

/// The defaults are those of ViT-B/16.
struct VitOptions {
  std::int64_t image = 224;  // height and width of an image
  std::int64_t patch = 16;   // of a patch; divides image
  std::int64_t channels = 3;
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t dim = 768;       // must be a multiple of heads
  std::int64_t hidden = 3072;   // width between the linear layers of a layer
  std::int64_t classes = 1000;  // 0: no classifier
  double norm_eps = 1e-12;
  bool qkv_bias = true;
  GeluForm gelu = GeluForm::kExact;
  double dropout = 0.0;            // of what is added to x; in [0, 1)
  double attention_dropout = 0.0;  // of weights of attention; in [0, 1)
  /// False: layers run again in backward, which then keeps only their inputs.
  bool keep_layers = true;
  DType dtype = f32;
  /// False: weights are left as they are allocated, for whoever reads them from
  /// a file; but for those of the classifier, where draws_classes.
  bool is_drawn = true;
  bool draws_classes = false;

  std::int64_t tokens() const noexcept {  // patches and the one before them
    return (image / patch) * (image / patch) + 1;
  }
};

/// THROWS: ValueError, DTypeError.
NEAP_API void check(const VitOptions& options);

/// "vit.embeddings": a token for each patch of an image and one before them,
/// each with the row of its position.
class NEAP_API VitEmbeddings final : public nn::Cloneable<VitEmbeddings> {
 public:
  explicit VitEmbeddings(const VitOptions& options,
                         CallSite site = CallSite::here());
  VitEmbeddings(const VitEmbeddings& other, nn::Cloning& cloning);

  /// (b, channels, image, image) to (b, tokens, dim).
  Tensor forward(const Tensor& images) const override;

 private:
  double dropout_;
  Tensor cls_token_;            // (1, 1, dim)
  Tensor position_embeddings_;  // (1, tokens, dim)
  Nested<nn::Conv2d> patch_embeddings_;
};

/// "vit": all but the classifier.
class NEAP_API VitBody final : public nn::Cloneable<VitBody> {
 public:
  explicit VitBody(const VitOptions& options, CallSite site = CallSite::here());
  VitBody(const VitBody& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& images) const override;
  void each_linear(LinearVisit visit) { encoder_.each_linear(visit); }

 private:
  void name_parts();

  VitEmbeddings embeddings_;
  Encoder encoder_;
  nn::LayerNorm layernorm_;
};

class NEAP_API Vit final : public nn::Cloneable<Vit> {
 public:
  /// Weights normal with deviation 0.02, those of norms 1, biases 0. THROWS:
  /// ValueError for sizes that do not go together, or a dropout outside [0, 1);
  /// DTypeError unless f32 or f64; OutOfMemory.
  explicit Vit(const VitOptions& options, CallSite site = CallSite::here());
  Vit(const Vit& other, nn::Cloning& cloning);

  /// Images (b, channels, image, image) to scores (b, classes), those of the
  /// first token; without a classifier to (b, tokens, dim). LIFETIME: as
  /// Llama's. THROWS: ShapeError.
  Tensor forward(const Tensor& images) const override;

  /// Calls visit(layer) for each linear layer but the classifier.
  void each_linear(LinearVisit visit) { vit_.each_linear(visit); }

  const VitOptions& options() const noexcept { return options_; }

 private:
  void name_parts();

  VitOptions options_;
  VitBody vit_;
  std::optional<nn::Linear> classifier_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::VitEmbeddings>;
extern template class Cloneable<models::VitBody>;
extern template class Cloneable<models::Vit>;
}  // namespace neap::nn
