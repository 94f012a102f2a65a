// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The layers of encoders (Vaswani et al., arXiv 1706.03762), in which every
// token sees all of them, with the names that Hugging Face's files of BERT and
// of vision transformers have:
//
//   norm last (BERT)                       norm first (ViT)
//   attention.self.query, key, value       attention.attention.query, ...
//   attention.output.dense, LayerNorm      attention.output.dense
//   intermediate.dense                     intermediate.dense
//   output.dense, LayerNorm                output.dense
//                                          layernorm_before, layernorm_after
#pragma once

#include <optional>

#include "neap/models/linear_visit.hpp"
#include "neap/models/nested.hpp"
#include "neap/nn/norm.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/ops/activation/activations.hpp"

namespace neap::models {

/// The sizes and variants of an encoder, shared by its parts.
struct EncoderOptions {
  std::int64_t layers = 12;
  std::int64_t heads = 12;
  std::int64_t dim = 768;      // must be a multiple of heads
  std::int64_t hidden = 3072;  // width between the linear layers
  bool is_norm_first = false;  // false: x is added, then the sum is normalised
  double norm_eps = 1e-12;
  bool qkv_bias = true;
  GeluForm gelu = GeluForm::kExact;
  double dropout = 0.0;            // of what is added to x; in [0, 1)
  double attention_dropout = 0.0;  // of weights of attention; in [0, 1)
  /// False: layers run again in backward, which then keeps only their inputs.
  bool keep_layers = true;
  DType dtype = f32;
  /// False: weights are left as they are allocated, for whoever reads them from
  /// a file.
  bool is_drawn = true;
};

/// Message begins with `name`. THROWS: ValueError, DTypeError.
NEAP_API void check(const EncoderOptions& options, const char* name);

/// Multi-head self-attention without the projection after it: "query", "key",
/// "value". Maps (b, t, dim) to (b, t, dim), heads side by side.
class NEAP_API EncoderAttention final : public nn::Cloneable<EncoderAttention> {
 public:
  explicit EncoderAttention(const EncoderOptions& options,
                            CallSite site = CallSite::here());
  EncoderAttention(const EncoderAttention& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  /// With the tokens that are seen: a mask that broadcasts to (b, heads, t, t)
  /// as AttentionOptions has it; undefined: all.
  Tensor attend(const Tensor& x, const Tensor& mask,
                CallSite site = CallSite::here()) const;
  void each_linear(LinearVisit visit);

 private:
  void name_parts();
  Tensor seen(const Tensor& x, const Tensor& mask) const;
  Tensor heads_of(const Tensor& projected) const;

  std::int64_t heads_;
  double dropout_;
  nn::Linear query_;
  nn::Linear key_;
  nn::Linear value_;
};

/// norm(x + dropout(dense(y))), or without the norm: "dense" and perhaps
/// "LayerNorm".
class NEAP_API EncoderSum final : public nn::Cloneable<EncoderSum> {
 public:
  /// `in`: the width of y.
  EncoderSum(const EncoderOptions& options, std::int64_t in,
             CallSite site = CallSite::here());
  EncoderSum(const EncoderSum& other, nn::Cloning& cloning);

  /// norm(dropout(dense(y))).
  Tensor forward(const Tensor& y) const override;
  Tensor add(const Tensor& x, const Tensor& y,
             CallSite site = CallSite::here()) const;
  /// The same of gelu(y), which is not kept but computed again.
  Tensor add_gelu(const Tensor& x, const Tensor& y,
                  CallSite site = CallSite::here()) const;
  void each_linear(LinearVisit visit);

 private:
  void name_parts();
  Tensor normed(Tensor sum) const;

  GeluForm gelu_;
  double dropout_;
  nn::Linear dense_;
  std::optional<nn::LayerNorm> norm_;
};

/// "attention" of a layer: the attention and the sum after it.
class NEAP_API EncoderAttentionSum final
    : public nn::Cloneable<EncoderAttentionSum> {
 public:
  explicit EncoderAttentionSum(const EncoderOptions& options,
                               CallSite site = CallSite::here());
  EncoderAttentionSum(const EncoderAttentionSum& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  /// The sum of x and the attention of `normed`, x or a norm of it.
  Tensor add(const Tensor& x, const Tensor& normed, const Tensor& mask,
             CallSite site = CallSite::here()) const;
  void each_linear(LinearVisit visit);

 private:
  void name_parts();

  bool is_norm_first_;
  EncoderAttention self_;
  EncoderSum output_;
};

/// Maps (b, t, dim) to the same.
class NEAP_API EncoderLayer final : public nn::Cloneable<EncoderLayer> {
 public:
  explicit EncoderLayer(const EncoderOptions& options,
                        CallSite site = CallSite::here());
  EncoderLayer(const EncoderLayer& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  /// With the tokens that are seen, as EncoderAttention::attend.
  Tensor run(const Tensor& x, const Tensor& mask,
             CallSite site = CallSite::here()) const;
  void each_linear(LinearVisit visit);

 private:
  void name_parts();
  Tensor transformed(const Tensor& x, const Tensor& mask) const;

  EncoderAttentionSum attention_;
  Nested<nn::Linear> intermediate_;
  EncoderSum output_;
  std::optional<nn::LayerNorm> before_;  // of a layer with its norms first
  std::optional<nn::LayerNorm> after_;
};

/// "encoder": the layers, one after the other, as "layer.0", "layer.1" ...
class NEAP_API Encoder final : public nn::Cloneable<Encoder> {
 public:
  explicit Encoder(const EncoderOptions& options,
                   CallSite site = CallSite::here());
  Encoder(const Encoder& other, nn::Cloning& cloning);

  Tensor forward(const Tensor& x) const override;
  Tensor run(const Tensor& x, const Tensor& mask,
             CallSite site = CallSite::here()) const;
  void each_linear(LinearVisit visit);

 private:
  Tensor through_layers(Tensor x, const Tensor& mask) const;

  bool keep_layers_;
  nn::Sequential layer_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::EncoderAttention>;
extern template class Cloneable<models::EncoderSum>;
extern template class Cloneable<models::EncoderAttentionSum>;
extern template class Cloneable<models::EncoderLayer>;
extern template class Cloneable<models::Encoder>;
}  // namespace neap::nn
