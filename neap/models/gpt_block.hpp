// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// GptMlp and GptBlock: one layer of a decoder-only transformer, with the norms
// in front (GPT-2's form).
#pragma once

#include <optional>

#include "neap/models/causal_attention.hpp"
#include "neap/nn/swiglu.hpp"

namespace neap::models {

/// "c_fc" (dim to 4 dim), gelu, "c_proj" (4 dim to dim), dropout. Keeps x and
/// the result of c_fc.
class NEAP_API GptMlp final : public nn::Cloneable<GptMlp> {
 public:
  explicit GptMlp(const GptOptions& options, CallSite site = CallSite::here());
  GptMlp(const GptMlp& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  /// The same as CausalAttention::after.
  Tensor after(const GptNorm& norm, const Tensor& x,
               CallSite site = CallSite::here()) const;
  void each_linear(LinearVisit visit);

 private:
  void name_parts();
  Tensor through_gelu(const Tensor& x) const;

  GeluForm gelu_;
  double dropout_;
  nn::Linear c_fc_;
  nn::Linear c_proj_;
};

/// x + attn(ln_1(x)), then that + mlp(ln_2(that)), "mlp" as the options say.
class NEAP_API GptBlock final : public nn::Cloneable<GptBlock> {
 public:
  explicit GptBlock(const GptOptions& options,
                    CallSite site = CallSite::here());
  GptBlock(const GptBlock& other, nn::Cloning& cloning);

  /// (b, t, dim) to the same.
  Tensor forward(const Tensor& x) const override;
  /// The same of tokens that the pass places, beside those of its cache.
  Tensor decode(const Tensor& x, KvPass& pass,
                CallSite site = CallSite::here()) const;
  /// Calls visit(layer) for each linear layer, but for those of an nn::SwiGlu.
  void each_linear(LinearVisit visit);

 private:
  void name_parts();
  Tensor add_mlp(const Tensor& y) const;

  GptKeep keep_;
  GptNorm ln_1_;
  CausalAttention attn_;
  GptNorm ln_2_;
  std::optional<GptMlp> mlp_;
  std::optional<nn::SwiGlu> swiglu_;  // instead of mlp_
  double dropout_;                    // behind it
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::GptMlp>;
extern template class Cloneable<models::GptBlock>;
}  // namespace neap::nn
