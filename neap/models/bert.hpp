// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Bert: an encoder of text (Devlin et al., arXiv 1810.04805), of which every
// token sees all others, with the names that Hugging Face's files have:
//
//   bert.embeddings   word_embeddings, position_embeddings,
//                     token_type_embeddings, LayerNorm
//   bert.encoder      layer.0 ..., as encoder_layer.hpp has them
//   bert.pooler       dense; for classes
//   classifier        for classes
//   cls.predictions   transform.dense, transform.LayerNorm, bias; for tokens
//
//   models::Bert model({.vocab = 1000, .layers = 4, .heads = 4, .dim = 128,
//                       .hidden = 512, .head = models::BertHead::kClasses});
//   Tensor scores = model.run({.tokens = tokens, .mask = is_token});
#pragma once

#include <optional>

#include "neap/models/encoder_layer.hpp"
#include "neap/nn/embedding.hpp"

namespace neap::models {

/// The head of a Bert: how the vectors of its tokens are used.
enum class BertHead : std::uint8_t {
  kNone,     // themselves: (b, t, dim)
  kTokens,   // scores of the token in each place: (b, t, vocab)
  kClasses,  // scores of the text's class, from its first token: (b, classes)
};

/// The defaults are those of BERT-base.
struct BertOptions {
  std::int64_t vocab = 30522;  // tokens that there are
  std::int64_t block = 512;    // tokens in a row, at most
  std::int64_t types = 2;      // of tokens: those of a first and a second text
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t dim = 768;      // must be a multiple of heads
  std::int64_t hidden = 3072;  // width between the linear layers of a layer
  BertHead head = BertHead::kTokens;
  std::int64_t classes = 2;
  /// The token of padding, whose row of word_embeddings counts as a constant
  /// where it is looked up.
  std::optional<std::int64_t> padding{};
  double norm_eps = 1e-12;
  GeluForm gelu = GeluForm::kExact;
  double dropout = 0.0;            // of what is added to x; in [0, 1)
  double attention_dropout = 0.0;  // of weights of attention; in [0, 1)
  double head_dropout = 0.0;       // before the classifier; in [0, 1)
  /// False: layers run again in backward, which then keeps only their inputs.
  bool keep_layers = true;
  DType dtype = f32;
  /// False: weights are left as they are allocated, for whoever reads them from
  /// a file; but for those of the pooler and the classifier, where
  /// draws_classes.
  bool is_drawn = true;
  bool draws_classes = false;
};

/// THROWS: ValueError, DTypeError.
NEAP_API void check(const BertOptions& options);

/// A batch of texts, or of pairs of them.
struct BertInputs {
  Tensor tokens;   // (b, t), i32 or i64
  Tensor types{};  // (b, t), i32 or i64, from 0 on; undefined: 0 everywhere
  /// (b, t), bool: false for padding, which no token sees. Undefined: all are
  /// tokens.
  Tensor mask{};
};

/// LayerNorm(word + type + position), with dropout.
class NEAP_API BertEmbeddings final : public nn::Cloneable<BertEmbeddings> {
 public:
  explicit BertEmbeddings(const BertOptions& options,
                          CallSite site = CallSite::here());
  BertEmbeddings(const BertEmbeddings& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& tokens) const override;
  Tensor look_up(const BertInputs& inputs,
                 CallSite site = CallSite::here()) const;

  const Tensor& words() const noexcept { return word_embeddings_.weight(); }

 private:
  void name_parts();
  Tensor summed(const Tensor& tokens, const Tensor& types) const;

  double dropout_;
  std::optional<std::int64_t> padding_;
  nn::Embedding word_embeddings_;
  nn::Embedding position_embeddings_;
  nn::Embedding token_type_embeddings_;
  nn::LayerNorm norm_;
};

/// "bert": all but the heads.
class NEAP_API BertBody final : public nn::Cloneable<BertBody> {
 public:
  explicit BertBody(const BertOptions& options,
                    CallSite site = CallSite::here());
  BertBody(const BertBody& other, nn::Cloning& cloning);

  /// Tokens (b, t) to (b, t, dim).
  Tensor forward(const Tensor& tokens) const override;
  Tensor run(const BertInputs& inputs, CallSite site = CallSite::here()) const;
  /// tanh of the pooler of the first token: (b, t, dim) to (b, dim). THROWS:
  /// ValueError unless the options' head is for classes; ShapeError for t = 0.
  Tensor pool(const Tensor& x, CallSite site = CallSite::here()) const;

  const Tensor& words() const noexcept { return embeddings_.words(); }
  void each_linear(LinearVisit visit);

 private:
  void name_parts();

  BertEmbeddings embeddings_;
  Encoder encoder_;
  std::optional<Nested<nn::Linear>> pooler_;
};

/// LayerNorm(gelu(dense(x))).
class NEAP_API BertTransform final : public nn::Cloneable<BertTransform> {
 public:
  explicit BertTransform(const BertOptions& options,
                         CallSite site = CallSite::here());
  BertTransform(const BertTransform& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  void each_linear(LinearVisit visit) { visit(dense_); }

 private:
  void name_parts();

  GeluForm gelu_;
  nn::Linear dense_;
  nn::LayerNorm norm_;
};

/// "cls.predictions": "transform" and "bias" (vocab).
class NEAP_API BertPredictions final : public nn::Cloneable<BertPredictions> {
 public:
  explicit BertPredictions(const BertOptions& options,
                           CallSite site = CallSite::here());
  BertPredictions(const BertPredictions& other, nn::Cloning& cloning);

  /// The transform alone.
  Tensor forward(const Tensor& x) const override { return transform_(x); }
  /// linear(transform(x), words, bias): (b, t, dim) to (b, t, vocab).
  Tensor scores(const Tensor& x, const Tensor& words,
                CallSite site = CallSite::here()) const;
  void each_linear(LinearVisit visit) { transform_.each_linear(visit); }

 private:
  BertTransform transform_;
  Tensor bias_;  // (vocab)
};

class NEAP_API Bert final : public nn::Cloneable<Bert> {
 public:
  /// Weights normal with deviation 0.02, those of norms 1, biases 0. THROWS:
  /// ValueError for sizes that do not go together, or a dropout outside [0, 1);
  /// DTypeError unless f32 or f64; OutOfMemory.
  explicit Bert(const BertOptions& options, CallSite site = CallSite::here());
  Bert(const Bert& other, nn::Cloning& cloning);

  /// Tokens (b, t), all of them of one text and none of them padding, t at most
  /// block, to what the head makes of them. Padded ones are (b, 2, t): tokens,
  /// and below each a number that is 0 for padding. LIFETIME: as Llama's.
  /// THROWS: ShapeError; ValueError for no such token.
  Tensor forward(const Tensor& tokens) const override;
  /// The same of pairs of texts, or of texts of several lengths. THROWS: as
  /// forward; ShapeError unless types and mask are of the tokens' shape;
  /// DTypeError for a mask other than bool; ValueError for no such type.
  Tensor run(const BertInputs& inputs, CallSite site = CallSite::here()) const;

  /// Calls visit(layer) for each linear layer but the classifier.
  void each_linear(LinearVisit visit);

  const BertOptions& options() const noexcept { return options_; }

 private:
  void name_parts();
  void check_inputs(const BertInputs& inputs) const;
  Tensor through_head(const Tensor& x) const;

  BertOptions options_;
  BertBody bert_;
  std::optional<nn::Linear> classifier_;
  std::optional<Nested<BertPredictions>> cls_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::BertEmbeddings>;
extern template class Cloneable<models::BertBody>;
extern template class Cloneable<models::BertTransform>;
extern template class Cloneable<models::BertPredictions>;
extern template class Cloneable<models::Bert>;
}  // namespace neap::nn
