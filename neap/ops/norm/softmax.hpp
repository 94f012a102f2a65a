// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kSoftmax;
}  // namespace ops

/// exp(x) / sum(exp(x)) along an axis; f32, f64. No overflow for any finite x.
/// Keeps the result alone for the derivative. THROWS: ShapeError for a bad
/// axis.
NEAP_API Tensor softmax(const Operand& x, std::int64_t axis = -1);

}  // namespace neap
