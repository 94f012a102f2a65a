// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// A view of `length` elements of one axis from `start` (negative: from the
/// end). THROWS: ShapeError unless they all exist.
NEAP_API Tensor narrow(const Operand& x, std::int64_t axis, std::int64_t start,
                       std::int64_t length);

/// A view of one position of an axis (negative: from the end); the axis goes.
/// THROWS: ShapeError when out of range.
NEAP_API Tensor select(const Operand& x, std::int64_t axis,
                       std::int64_t position);

}  // namespace neap
