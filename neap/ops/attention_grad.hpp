// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "neap/graph/recorder.hpp"
#include "neap/kernels/attention.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kAttentionGrad;
NEAP_API extern const graph::Op kAttentionDropoutGrad;

/// The cotangents of q, k and v of ops::attention for that of its first result,
/// as far as `wanted` says; the others are of no use. `y` and `lse` are what it
/// gave, without a graph. v and y are not read where neither dq nor dk is
/// wanted. Computes the weights again, block by block.
NEAP_API std::array<Tensor, 3> attention_grad(
    const Operand& dy, const Tensor& v, const Operand& q, const Operand& k,
    const Operand& lse, const Tensor& y, const Tensor& mask,
    const kernels::AttentionAttrs& wanted);

}  // namespace neap::ops
