// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// linear_cross_entropy: the cross entropy of the logits z = x w^T + b, which
// exist for a block of rows at a time, in the scratch. f32, f64.
//   in[0]  x       (N, D)    any strides
//   in[1]  w       (V, D)    any strides
//   in[2]  labels  (N)       i64, any stride
//   in[3]  b       (V)       of has_bias alone; any stride
//   out[0] loss    () or (N) dtype of x
//   out[1] lse     (N)       dtype of x: ln sum_c e^z[i, c]
//
// linear_cross_entropy_grad: the gradients of the loss for its cotangent g, by
// logits that are computed again. A gradient that is not wanted has no
// elements.
//   in[0]  g       () or (N) as the loss
//   in[1]  x, in[2]  w       as above
//   in[3]  b       (V)       as above; anything without has_bias
//   in[4]  labels            as above
//   in[5]  lse     (N)       out[1] of linear_cross_entropy
//   then   dx0     (N, D)    of adds_dx alone: what dx is added to
//   then   dw0     (V, D)    of adds_dw alone: what dw is added to
//   out[0] dx (N, D), out[1] dw (V, D), out[2] db (V)    dense row-major
//
// All bits are those of linear, cross_entropy, cross_entropy_grad and the
// products of linear's derivative over all rows at once: these kernels run
// here, for each block. A row does not depend on others, losses are added up in
// double and in index order, dw is one accumulator over rows that goes on from
// block to block (matmul_add), db a sum that goes on (sum_rows.hpp). Blocks
// have even numbers of rows, since products in bf16 take rows in pairs.
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/engine/precision.hpp"
#include "neap/kernels/loss/loss_attrs.hpp"

namespace neap::kernels {

struct LinearCrossEntropyAttrs {
  CrossEntropyAttrs loss{};
  bool has_bias = false;
  bool dx = false;  // of the gradient: what is wanted
  bool dw = false;
  bool db = false;
  bool adds_dx = false;  // it is added to what other calls gave
  bool adds_dw = false;
  Precision precision = Precision::kF32;
  std::array<bool, 1> padding{};
};

/// A block of logits is so many rows, since each block reads all of w; more
/// where these take less than kLeastLogits, fewer, but two, where they take
/// more than kMostLogits.
inline constexpr std::int64_t kLogitsRows = 256;
inline constexpr Bytes kLeastLogits = 8 * kMiB;
inline constexpr Bytes kMostLogits = 64 * kMiB;

/// Rows of a block of logits (rows, classes) with elements of so many bytes:
/// all of them, or an even number.
std::int64_t rows_of_logits_block(std::int64_t rows, std::int64_t classes,
                                  Bytes element_bytes) noexcept;

extern const KernelList linear_cross_entropy_kernels;
extern const KernelList linear_cross_entropy_grad_kernels;

}  // namespace neap::kernels
