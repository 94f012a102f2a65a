// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Llama: a decoder-only transformer of the form of Llama (Touvron et al., arXiv
// 2302.13971), which Mistral, Qwen2 and SmolLM have, too, with the names that
// Hugging Face's files have:
//
//   model.embed_tokens   embedding of tokens
//   model.layers.0 ..    self_attn (q_proj, k_proj, v_proj, o_proj), mlp
//                        (gate_proj, up_proj, down_proj), input_layernorm,
//                        post_attention_layernorm
//   model.norm           RMS norm
//   lm_head              to a score for every token; its weight may be
//                        model.embed_tokens's
//
//   models::Llama model({.vocab = 512, .block = 256, .layers = 6, .heads = 8,
//                        .kv_heads = 4, .dim = 288, .hidden = 768});
//   backward(model.loss(tokens, targets));
#pragma once

#include "neap/models/gpt.hpp"
#include "neap/models/llama_layer.hpp"

namespace neap::models {

/// "model": all but the scores.
class NEAP_API LlamaBody final : public nn::Cloneable<LlamaBody> {
 public:
  explicit LlamaBody(const LlamaOptions& options,
                     CallSite site = CallSite::here());
  LlamaBody(const LlamaBody& other, nn::Cloning& cloning);

  /// Tokens (b, t) to (b, t, dim).
  Tensor forward(const Tensor& tokens) const override;
  /// The same of the last token of each sample: (b, dim).
  Tensor decode(const Tensor& tokens, KvPass& pass,
                CallSite site = CallSite::here()) const;

  const Tensor& embedding() const noexcept { return embed_tokens_.weight(); }
  /// Calls visit(layer) for each linear layer.
  void each_linear(LinearVisit visit);

 private:
  void name_parts();

  bool keep_layers_;
  nn::Embedding embed_tokens_;
  nn::Sequential layers_;
  nn::RMSNorm norm_;
};

class NEAP_API Llama final : public nn::Cloneable<Llama> {
 public:
  /// Weights normal with deviation 0.02, those of norms 1, biases 0. THROWS:
  /// ValueError for sizes that do not go together, or a dropout outside [0, 1);
  /// DTypeError unless f32 or f64; OutOfMemory.
  explicit Llama(const LlamaOptions& options, CallSite site = CallSite::here());
  Llama(const Llama& other, nn::Cloning& cloning);

  /// Tokens (b, t), i32 or i64, t at most block -> scores (b, t, vocab) of
  /// what follows each. LIFETIME: where layers are not kept, a backward runs
  /// them again, so the model must then be there, where it is called.
  /// THROWS: ShapeError; ValueError for no such token.
  Tensor forward(const Tensor& tokens) const override;
  /// The mean cross-entropy of the scores and the targets (b, t), i64.
  /// THROWS: as forward and cross_entropy.
  Tensor loss(const Tensor& tokens, const Tensor& targets,
              CallSite site = CallSite::here()) const;

  /// Tokens (b, t) that the pass places -> scores (b, vocab) of what follows
  /// each sample's last token; models/decoder.hpp calls it. THROWS: as forward
  /// and KvPass; ValueError where positions are scaled by a row's length.
  Tensor decode(const Tensor& tokens, KvPass& pass,
                CallSite site = CallSite::here()) const;

  /// Calls visit(layer) for each linear layer but lm_head.
  void each_linear(LinearVisit visit) { model_.each_linear(visit); }

  const LlamaOptions& options() const noexcept { return options_; }

 private:
  void name_parts();

  LlamaOptions options_;
  LlamaBody model_;
  GptHead lm_head_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::LlamaBody>;
extern template class Cloneable<models::Llama>;
}  // namespace neap::nn
