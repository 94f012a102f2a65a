// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// GptMlp and GptBlock: one layer of a decoder-only transformer, with the norms
// in front (GPT-2's form).
#pragma once

#include "neap/models/causal_attention.hpp"
#include "neap/nn/norm.hpp"

namespace neap::models {

/// "c_fc" (dim to 4 dim), gelu, "c_proj" (4 dim to dim), dropout.
class NEAP_API GptMlp final : public nn::Cloneable<GptMlp> {
 public:
  explicit GptMlp(const GptOptions& options, CallSite site = CallSite::here());
  GptMlp(const GptMlp& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) override;

 private:
  void name_parts();

  GeluForm gelu_;
  double dropout_;
  nn::Linear c_fc_;
  nn::Linear c_proj_;
};

/// x + attn(ln_1(x)), then that + mlp(ln_2(that)).
class NEAP_API GptBlock final : public nn::Cloneable<GptBlock> {
 public:
  explicit GptBlock(const GptOptions& options,
                    CallSite site = CallSite::here());
  GptBlock(const GptBlock& other, nn::Cloning& cloning);

  /// (b, t, dim) to the same.
  Tensor forward(const Tensor& x) override;

 private:
  void name_parts();

  nn::LayerNorm ln_1_;
  CausalAttention attn_;
  nn::LayerNorm ln_2_;
  GptMlp mlp_;
};

}  // namespace neap::models
