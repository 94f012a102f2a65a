// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LlamaAttention, LlamaMlp and LlamaLayer: one layer of a Llama, with the norms
// in front.
#pragma once

#include "neap/models/kv_cache.hpp"
#include "neap/models/linear_visit.hpp"
#include "neap/models/llama_options.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/norm.hpp"

namespace neap::models {

/// Causal self-attention of rotated queries and keys, with as many or fewer
/// heads of keys and values (Ainslie et al., arXiv 2305.13245): "q_proj",
/// "k_proj", "v_proj", "o_proj". Maps (b, t, dim) to the same. Keeps x, the
/// rotated queries and keys, the values, the result of attention and a number
/// a row and head.
class NEAP_API LlamaAttention final : public nn::Cloneable<LlamaAttention> {
 public:
  /// `layer`: its number, since a window may begin with one.
  LlamaAttention(const LlamaOptions& options, std::int64_t layer,
                 CallSite site = CallSite::here());
  LlamaAttention(const LlamaAttention& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  /// The same of tokens that the pass places, beside those of its cache.
  Tensor decode(const Tensor& x, KvPass& pass,
                CallSite site = CallSite::here()) const;
  /// Calls visit(layer) for each linear layer.
  void each_linear(LinearVisit visit);

 private:
  void name_parts();
  RotaryOptions rotation(std::int64_t t) const;
  AttentionOptions scores() const;
  Tensor heads_of(const Tensor& projected, std::int64_t heads) const;
  Tensor project_back(const Tensor& y) const;

  std::int64_t heads_;
  std::int64_t kv_heads_;
  std::int64_t width_;   // of a head
  std::int64_t window_;  // 0: none in this layer
  double dropout_;
  LlamaRope rope_;
  nn::Linear q_proj_;
  nn::Linear k_proj_;
  nn::Linear v_proj_;
  nn::Linear o_proj_;
};

/// down_proj(swiglu(gate_proj(x), up_proj(x))) (Shazeer, arXiv 2002.05202).
class NEAP_API LlamaMlp final : public nn::Cloneable<LlamaMlp> {
 public:
  explicit LlamaMlp(const LlamaOptions& options,
                    CallSite site = CallSite::here());
  LlamaMlp(const LlamaMlp& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  void each_linear(LinearVisit visit);

 private:
  void name_parts();

  nn::Linear gate_proj_;
  nn::Linear up_proj_;
  nn::Linear down_proj_;
};

/// y = x + self_attn(input_layernorm(x)), then
/// y + mlp(post_attention_layernorm(y)).
class NEAP_API LlamaLayer final : public nn::Cloneable<LlamaLayer> {
 public:
  LlamaLayer(const LlamaOptions& options, std::int64_t layer,
             CallSite site = CallSite::here());
  LlamaLayer(const LlamaLayer& other, nn::Cloning& cloning);

  /// (b, t, dim) to the same.
  Tensor forward(const Tensor& x) const override;
  Tensor decode(const Tensor& x, KvPass& pass,
                CallSite site = CallSite::here()) const;
  void each_linear(LinearVisit visit);

 private:
  void name_parts();

  LlamaAttention self_attn_;
  LlamaMlp mlp_;
  nn::RMSNorm input_layernorm_;
  nn::RMSNorm post_attention_layernorm_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::LlamaAttention>;
extern template class Cloneable<models::LlamaMlp>;
extern template class Cloneable<models::LlamaLayer>;
}  // namespace neap::nn
