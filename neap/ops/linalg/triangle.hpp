// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kTriangle;
}  // namespace ops

/// The lower triangle of the matrices in the last two axes, and 0 elsewhere:
/// elements with column - row <= diagonal. Any dtype.
/// THROWS: ShapeError below rank 2.
NEAP_API Tensor tril(const TensorOperand& x, std::int64_t diagonal = 0);

/// The upper triangle likewise: column - row >= diagonal.
NEAP_API Tensor triu(const TensorOperand& x, std::int64_t diagonal = 0);

}  // namespace neap
