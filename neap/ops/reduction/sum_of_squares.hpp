// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSumOfSquares;
}  // namespace ops

/// Sum of the squares of all elements, rank 0, in f64; x f32 or f64.
NEAP_API Tensor sum_of_squares(const Operand& x);

}  // namespace neap
