// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// MultiheadAttention: of a sequence to itself or to another.
#pragma once

#include "neap/nn/linear.hpp"

namespace neap::nn {

struct MultiheadAttentionOptions {
  double dropout = 0.0;  // probability in [0, 1) for a weight, while training
  bool bias = true;
  DType dtype = f32;
};

/// The positions that a position sees.
struct AttentionMask {
  /// A mask of attention: bool, true where a position sees (PyTorch's
  /// layer says true where it does not); or added to the scores. It broadcasts
  /// to (b, heads, t, s). Undefined: none.
  Tensor mask{};
  bool is_causal = false;
};

/// scaled_dot_product_attention between projections, heads side by side.
/// Parameters "in_proj_weight" (3 dim, dim) and "in_proj_bias" (3 dim), those
/// of queries, keys and values one below the other, and the linear layer
/// "out_proj": PyTorch's names and shapes, with batches first. At first, as
/// PyTorch's: in_proj_weight by xavier_uniform_, biases 0.
class NEAP_API MultiheadAttention : public Cloneable<MultiheadAttention> {
 public:
  /// THROWS: ValueError unless heads divides dim and both are positive, and
  /// 0 <= dropout < 1; DTypeError unless f32 or f64; OutOfMemory.
  MultiheadAttention(std::int64_t dim, std::int64_t heads,
                     const MultiheadAttentionOptions& options = {},
                     CallSite site = CallSite::here());
  MultiheadAttention(const MultiheadAttention& other, Cloning& cloning);

  using Layer::operator();
  /// Maps queries (b, t, dim), keys and values (b, s, dim) to (b, t, dim). The
  /// same handle as several arguments is projected at once.
  /// THROWS: as scaled_dot_product_attention and linear.
  Tensor operator()(const Tensor& query, const Tensor& key, const Tensor& value,
                    const AttentionMask& mask = {},
                    CallSite site = CallSite::here()) const;
  /// x to itself, every position to all.
  Tensor forward(const Tensor& x) const override;

 private:
  void name_parts() { register_module("out_proj", out_proj_); }
  Tensor attend(const Tensor& query, const Tensor& key, const Tensor& value,
                const AttentionMask& mask) const;
  Tensor projected(const Tensor& x, std::int64_t first,
                   std::int64_t count) const;

  std::int64_t heads_;
  double dropout_;
  Tensor in_proj_weight_;  // (3 dim, dim)
  Tensor in_proj_bias_;    // (3 dim); undefined where there is none
  Linear out_proj_;
};

extern template class Cloneable<MultiheadAttention>;

}  // namespace neap::nn
