// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// attention: y = drop(softmax(scale q k^T + mask)) v for each head, and the
// logarithm of each row's sum of exponentials. f32, f64.
//   in[0]  q     (B, T, H, D)   any strides
//   in[1]  k     (B, S, G, D)   any strides; G divides H, head h reads
//   in[2]  v     (B, S, G, E)   any strides; k and v of number h / (H / G)
//   in[3]  mask  (B, H, T, S)   of has_mask alone; any strides; any leading
//                extent may be 1. bool: what a row sees; else of q's dtype,
//                added to the scores
//   out[0] y     (B, T, H, E)   dense row-major
//   out[1] lse   (B, H, T)      dense row-major
//
// attention_grad: the gradients of the first output for dy. A gradient that is
// not wanted has no elements.
//   in[0]  dy    as y, any strides
//   in[1]  v     as above; anything where neither dq nor dk is wanted
//   in[2..3]     q and k as above
//   in[4]  lse   as given, any strides
//   in[5]  y     as given, any strides; left out where neither is wanted
//   last   mask  as above
//   out[0] dq, out[1] dk, out[2] dv    as q, k and v, dense row-major
//
// No matrix (T, S) is ever whole: rows and keys are processed in blocks, of
// which the scratch holds one (Dao et al., "FlashAttention: fast and memory-
// efficient exact attention with IO-awareness", NeurIPS 2022; Dao,
// "FlashAttention-2", 2023). Blocks that no row of theirs sees are skipped.
//
// A row that sees no key gives zeros, and its lse is infinity. A key that a row
// does not see may make it NaN where its v is NaN or infinite.
//
// A row's scores are single accumulators over D. Exponentials are summed in
// blocks of kKeyBlock keys, in a block element j in partial j mod 16, partials
// joined by halves, blocks in order. y, dq, dk and dv are single accumulators
// over keys, keys, rows and rows in order (of several heads that share k and
// v, first all rows of the first). So nothing depends on threads or strides.
// Of dropout, element i of the whole (B, H, T, S) is kept as dropout.hpp says,
// counted on from `first`.
//
// With Precision::kBf16 (of float alone) the five products are as gemm.hpp says
// of it. The factors are rounded: q and k times the scale where the scale is a
// factor (of scores, dk: q; of dq: k), k, v, dy, the weights after dropout and
// the derivatives by the scores. Pairs run along D, along E, along keys (0, 1),
// (2, 3), ... and along one head's rows likewise; elements that are not there
// or not seen count as zero. Scores, exponentials, their sums, lse, the sums of
// dy y and all results are f32. (Where a sum underflows to zero, its sign may
// depend on what is computed side by side.)
#pragma once

#include <array>

#include "neap/base/philox.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/engine/precision.hpp"

namespace neap::kernels {

struct AttentionAttrs {
  double scale = 1.0;      // finite
  double dropout = 0.0;    // probability, in [0, 1)
  base::DrawKey key;       // of dropout
  std::int64_t first = 0;  // number of the first weight, where these are a part
  bool is_causal = false;  // row i sees keys j <= i alone
  bool has_mask = false;
  bool dq = false;  // of attention_grad: what is wanted
  bool dk = false;
  bool dv = false;
  Precision precision = Precision::kF32;
  std::array<bool, 2> padding{};
};

extern const KernelList attention_kernels;
extern const KernelList attention_grad_kernels;
}  // namespace neap::kernels
