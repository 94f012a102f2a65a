// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kFlip;
}  // namespace ops

/// x with the order of its elements reversed along `axes`. A copy.
/// THROWS: ShapeError for an axis out of range or named twice.
NEAP_API Tensor flip(const TensorOperand& x, const Shape& axes);

/// x with its elements `shift` positions further along an axis; those that
/// leave it at the end come back at the start. Negative: the other way.
/// THROWS: ShapeError for a bad axis.
NEAP_API Tensor roll(const TensorOperand& x, std::int64_t shift,
                     std::int64_t axis);
/// The same of x as one line, in row-major order.
NEAP_API Tensor roll(const TensorOperand& x, std::int64_t shift);

}  // namespace neap
