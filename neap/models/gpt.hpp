// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Gpt: a decoder-only transformer of GPT-2's form (Radford et al., "Language
// models are unsupervised multitask learners", 2019), with its names:
//
//   wte, wpe     embeddings of tokens and of positions, added
//   h.0, h.1 ..  blocks: ln_1, attn.c_attn, attn.c_proj, ln_2, mlp.c_fc,
//                mlp.c_proj
//   ln_f         norm
//   lm_head      to a score for every token; its weight is wte's unless told
//                otherwise
//
// With rotary positions there is no wpe; with swiglu, mlp has w1, w2 and w3;
// with rms norms, these have no bias.
//
//   models::Gpt model({.vocab = 256, .block = 64, .layers = 4, .heads = 4,
//                      .dim = 128});
//   backward(model.loss(tokens, targets));
#pragma once

#include <optional>

#include "neap/models/gpt_block.hpp"
#include "neap/nn/embedding.hpp"
#include "neap/nn/sequential.hpp"

namespace neap::models {

/// A linear layer without bias: "weight" (vocab, dim), its own or one that it
/// is tied to.
class NEAP_API GptHead final : public nn::Cloneable<GptHead> {
 public:
  /// A weight in bf16 is frozen.
  GptHead(std::int64_t vocab, std::int64_t dim, DType dtype,
          CallSite site = CallSite::here());
  explicit GptHead(const Tensor& home, CallSite site = CallSite::here());
  GptHead(const GptHead& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;

  const Tensor& weight() const noexcept { return weight_; }

 private:
  void freeze_half();

  Tensor weight_;  // (vocab, dim)
};

class NEAP_API Gpt final : public nn::Cloneable<Gpt> {
 public:
  /// Weights as GPT-2's: normal with deviation 0.02, that of the projections
  /// onto the sum (c_proj) divided by sqrt(2 layers); biases 0.
  /// THROWS: ValueError for a size below 1, heads that do not divide dim, or a
  /// dropout outside [0, 1); DTypeError unless f32 or f64; OutOfMemory.
  explicit Gpt(const GptOptions& options, CallSite site = CallSite::here());
  Gpt(const Gpt& other, nn::Cloning& cloning);

  /// Tokens (b, t), i32 or i64, t at most block -> scores (b, t, vocab) of
  /// what follows each. LIFETIME: where nothing is kept, a backward runs the
  /// blocks again, so the model must then be there, where it is called.
  /// THROWS: ShapeError; ValueError for no such token.
  Tensor forward(const Tensor& tokens) const override;
  /// The mean cross-entropy of the scores and the targets (b, t), i64.
  /// THROWS: as forward and cross_entropy.
  Tensor loss(const Tensor& tokens, const Tensor& targets,
              CallSite site = CallSite::here()) const;

  /// Tokens (b, t) that the pass places -> scores (b, vocab) of what follows
  /// each sample's last token; models/decoder.hpp calls it. THROWS: as forward
  /// and KvPass.
  Tensor decode(const Tensor& tokens, KvPass& pass,
                CallSite site = CallSite::here()) const;

  /// Calls visit(layer) for each linear layer of the blocks, but for those of
  /// an nn::SwiGlu.
  void each_linear(LinearVisit visit);

  const GptOptions& options() const noexcept { return options_; }

 private:
  void name_parts();
  void initialise(const CallSite& site);
  Tensor through_blocks(Tensor x) const;

  GptOptions options_;
  nn::Embedding wte_;
  std::optional<nn::Embedding> wpe_;
  nn::Sequential h_;
  GptNorm ln_f_;
  GptHead lm_head_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::GptHead>;
extern template class Cloneable<models::Gpt>;
}  // namespace neap::nn
