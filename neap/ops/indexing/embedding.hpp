// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "neap/graph/recorder.hpp"

namespace neap {

/// Row weight[id] for every id: weight (rows, width), ids (...) i32 or i64 give
/// (..., width). Row `padding` (negative: from the end) counts as a constant:
/// its gradient is 0. dweight adds up the rows of dy in row-major order of the
/// ids, and touches no others but to make them 0.
/// THROWS: ShapeError unless weight has two axes; DTypeError; ValueError for an
/// id outside [0, rows) in host memory, or a padding that is no row.
NEAP_API Tensor embedding(const Operand& weight, const Operand& ids,
                          std::optional<std::int64_t> padding = std::nullopt);

}  // namespace neap
