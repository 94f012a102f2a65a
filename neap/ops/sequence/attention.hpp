// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

#include "neap/graph/recorder.hpp"

namespace neap {

namespace kernels {
struct AttentionAttrs;
}  // namespace kernels

/// The options of scaled_dot_product_attention.
struct AttentionOptions {
  /// A tensor that broadcasts to the scores (..., t, s): bool, which keys a row
  /// sees; or of q's dtype, added to the scores. Undefined: none.
  Tensor mask{};
  bool is_causal = false;  // row i sees keys j <= i alone, of what mask leaves
  double dropout = 0.0;    // probability in [0, 1) for a weight
  std::optional<double> scale{};  // 1 / sqrt(d) unless said
  bool enable_gqa = false;  // heads of k and v may each serve several of q
};

namespace ops {
NEAP_API extern const graph::Op kAttention;
NEAP_API extern const graph::Op kAttentionDropout;

/// The primitive: q (b, t, h, d), k (b, s, g, d), v (b, s, g, e) and perhaps a
/// mask of rank 4 to y (b, t, h, e) and the logarithm of each row's sum of
/// exponentials (b, h, t). With attrs.dropout, the op that takes a draw.
NEAP_API std::array<Tensor, 2> attention(const Operand& q, const Operand& k,
                                         const Operand& v, const Tensor& mask,
                                         const kernels::AttentionAttrs& attrs);
}  // namespace ops

/// Attention of queries q (..., t, d) over keys k (..., s, d) and values v
/// (..., s, e): softmax(scale q k^T + mask) v, (..., t, e); f32, f64 (Vaswani
/// et al., arXiv 1706.03762). Leading extents broadcast; with enable_gqa the
/// last of them, the heads, may be fewer in k and v, a divisor of those of q
/// (Ainslie et al., arXiv 2305.13245). Scores go by in blocks and are never
/// kept whole, neither here nor in the derivative, which computes them again
/// (Dao et al., NeurIPS 2022). A row that sees no key gives zeros, and no
/// gradient. The result lies as (..., t, heads, e), so that heads are put side
/// by side without a copy. With dropout, takes one draw of the current
/// generator. Keeps q, k, v, the result and a number a row for the derivative.
/// Under UsePrecision the products of f32 are in that, not the softmax.
/// THROWS: ShapeError; DTypeError; ValueError unless 0 <= dropout < 1 and scale
/// is finite.
NEAP_API Tensor scaled_dot_product_attention(
    const Operand& q, const Operand& k, const Operand& v,
    const AttentionOptions& options = {});

}  // namespace neap
