// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/loss/loss_attrs.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kCrossEntropyGrad;

/// The cotangent of cross_entropy's logits (N, C), from that of the loss (rank
/// 0; (N) where it is not reduced), the logits, the labels (N) i64 and each
/// row's log sum e^x (N).
NEAP_API Tensor cross_entropy_grad(
    const Operand& g, const Operand& logits, const Operand& labels,
    const Operand& log_sum, const kernels::CrossEntropyAttrs& attrs = {});

}  // namespace ops

}  // namespace neap
