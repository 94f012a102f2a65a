// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "neap/graph/recorder.hpp"
#include "neap/kernels/linalg/linear_cross_entropy.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kLinearCrossEntropyGrad;

/// The tensors that linear_cross_entropy_grad reads of a call of
/// linear_cross_entropy over rows: operands, and each row's log sum e^z without
/// a graph.
struct LinearCrossEntropyKept {
  Tensor x{};       // (N, D)
  Tensor weight{};  // (V, D)
  Tensor bias{};    // (V); undefined: none
  Tensor labels{};  // (N)
  Tensor log_sum{};
};

/// Sums that gradients are added to, as part of the same accumulators;
/// undefined: none.
struct LinearCrossEntropySums {
  Tensor dx{};
  Tensor dw{};
};

/// The cotangents of x, weight and bias for that of the loss, as far as
/// `wanted` says; the others are of no use. Computes the logits again, block by
/// block.
NEAP_API std::array<Tensor, 3> linear_cross_entropy_grad(
    const TensorOperand& g, const LinearCrossEntropyKept& of,
    const kernels::LinearCrossEntropyAttrs& wanted,
    const LinearCrossEntropySums& sums = {});

}  // namespace neap::ops
