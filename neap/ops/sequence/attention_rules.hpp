// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Attention by whole matrices of weights, as the derivative rules of attention
// and of its gradient need it. For sources of ops only.
//
// With W the weights and r, g sums along their rows:
//
//   S = scale q k^T + mask     W = softmax S     y = drop(W) v
//   along tangents of q, k, v and mask
//     T = scale (tq k^T + q tk^T) + tmask     tW = W (T - r(W T))
//     ty = drop(tW) v + drop(W) tv
//   for the cotangent dy
//     G = drop(dy v^T)     dS = W (G - r(W G))
//
// Each is differentiable as often as one likes. Operands are (B, T, H, D) and
// (B, S, G, D) as in kernels/sequence/attention.hpp; inside, heads lie apart as
// (B, G, H / G, T, D), and keys as (B, G, 1, S, D).
#pragma once

#include "neap/kernels/sequence/attention.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

/// Axis 0 of all operands holds samples; a mask may be one for all.
RowUse rows_of_attention(const OpArgs& args, Specs outputs,
                         const RowAxes& axes);

/// Attention at one q, k and mask.
class AttentionAt {
 public:
  /// `mask` is undefined where there is none.
  AttentionAt(const Tensor& q, const Tensor& k, const Tensor& mask,
              const kernels::AttentionAttrs& attrs)
      : attrs_(attrs), k_(keys(k)), q_(rows(q)), mask_(mask) {}

  /// W (B, G, H / G, T, S). A row that sees nothing is 0.
  const Tensor& weights();
  /// A matrix shaped as the weights after dropout; itself where there is none.
  Tensor drop(const Tensor& x) const;
  /// T; undefined where all are.
  Tensor score_tangent(const Tensor& tq, const Tensor& tk, const Tensor& tmask);
  /// tW, of T. Its own transpose: dS, of G.
  Tensor derive(const Tensor& t);

  /// Operands with heads apart, and back.
  Tensor rows(const Tensor& x) const;  // (B, T, H, D)
  Tensor keys(const Tensor& x) const;  // (B, S, G, D)
  Tensor from_rows(const Tensor& x) const;
  Tensor from_keys(const Tensor& x) const;  // sums over heads that share keys
  /// The cotangent of the mask, of that of the scores.
  Tensor from_mask(const Tensor& x) const;

  const Tensor& q() const noexcept { return q_; }
  const Tensor& k() const noexcept { return k_; }
  double scale() const noexcept { return attrs_.scale; }

 private:
  Tensor mask_apart(const Tensor& mask) const;
  Tensor masked(Tensor scores) const;
  Tensor hidden_from_causal(Tensor scores) const;

  kernels::AttentionAttrs attrs_;
  Tensor k_;  // apart
  Tensor q_;  // apart
  Tensor mask_;
  Tensor weights_;
};

/// x y^T over the last two axes, and x^T y.
Tensor times_transposed(const Tensor& x, const Tensor& y);
Tensor transposed_times(const Tensor& x, const Tensor& y);

}  // namespace neap::ops
