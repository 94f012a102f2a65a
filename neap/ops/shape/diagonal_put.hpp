// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/shape/diagonal_put.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kDiagonalPut;

/// Zeros, with g (.., n) on the diagonal that `attrs` names: the cotangent of
/// diagonal.
NEAP_API Tensor diagonal_put(const Operand& g,
                             const kernels::DiagonalAttrs& attrs);

}  // namespace neap::ops
