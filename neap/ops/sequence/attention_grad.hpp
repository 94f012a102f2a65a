// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "neap/graph/recorder.hpp"
#include "neap/kernels/sequence/attention.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kAttentionGrad;
NEAP_API extern const graph::Op kAttentionDropoutGrad;

/// The tensors that attention_grad reads of a call of ops::attention: operands,
/// and results without a graph.
struct AttentionKept {
  Tensor q{};
  Tensor k{};
  Tensor v{};     // not read where neither dq nor dk is wanted
  Tensor mask{};  // undefined: none
  Tensor y{};     // as v
  Tensor lse{};
};

/// The cotangents of q, k and v for that of y, as far as `wanted` says; the
/// others are of no use. Computes the weights again, block by block.
NEAP_API std::array<Tensor, 3> attention_grad(
    const TensorOperand& dy, const AttentionKept& of,
    const kernels::AttentionAttrs& wanted);

}  // namespace neap::ops
