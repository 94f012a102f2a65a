// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CausalAttention: multi-head self-attention in which a token sees itself and
// those before it (Vaswani et al., arXiv 1706.03762).
#pragma once

#include "neap/models/gpt_norm.hpp"
#include "neap/models/kv_cache.hpp"
#include "neap/models/linear_visit.hpp"
#include "neap/nn/layers.hpp"

namespace neap::models {

/// Children "c_attn" (dim to queries, keys and values, side by side) and
/// "c_proj" (dim to dim). Maps (b, t, dim) to (b, t, dim). Keeps x, the
/// queries, keys and values, the result of attention (b, t, dim) and a number a
/// row and head; the weights are recomputed for the backward, and with dropout
/// drawn again.
class NEAP_API CausalAttention final : public nn::Cloneable<CausalAttention> {
 public:
  /// THROWS: ValueError unless `heads` divides `dim`; as nn::Linear.
  explicit CausalAttention(const GptOptions& options,
                           CallSite site = CallSite::here());
  CausalAttention(const CausalAttention& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  /// The same of norm(x), which is not kept but recomputed for the backward.
  Tensor after(const GptNorm& norm, const Tensor& x,
               CallSite site = CallSite::here()) const;
  /// The same of tokens that the pass places, beside those of its cache.
  Tensor decode(const Tensor& x, KvPass& pass,
                CallSite site = CallSite::here()) const;
  /// Calls visit(layer) for each linear layer.
  void each_linear(LinearVisit visit);

 private:
  void name_parts();
  Tensor attend(const Tensor& projected, KvPass* pass = nullptr) const;

  std::int64_t heads_;
  double dropout_;
  bool turns_;  // rotates queries and keys by their positions
  nn::Linear c_attn_;
  nn::Linear c_proj_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::CausalAttention>;
}  // namespace neap::nn
