// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The logits of linear_cross_entropy as a whole, for its rules of second order
// and of forward mode, and the shapes of its operands. For sources of ops only.
#pragma once

#include "neap/kernels/linalg/linear_cross_entropy.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

/// x w^T + bias, of rows; an undefined bias is none.
Tensor logits_of(const Tensor& x, const Tensor& w, const Tensor& bias);

/// The change of the logits along a change of each operand, undefined where
/// none changes; undefined operands do not.
struct LogitsMove {
  Tensor x{};
  Tensor w{};
  Tensor bias{};
};
Tensor moved_logits(const Tensor& x, const Tensor& w, const LogitsMove& move);

/// Ones of the losses' shape: g of a derivative along the losses themselves.
Tensor ones_of_losses(const Tensor& log_sum,
                      const kernels::CrossEntropyAttrs& attrs);

/// The sum of the losses' changes, or each of them, of changes of their logits
/// (N, V) times what those weigh.
Tensor along_losses(const Tensor& each,
                    const kernels::CrossEntropyAttrs& attrs);

/// The shape rule of x, w, labels and, if given, bias. THROWS: ShapeError,
/// DTypeError.
void infer_losses(const OpArgs& args, std::span<Spec> out);

}  // namespace neap::ops
