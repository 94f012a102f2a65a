// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// A view with a new axis of extent 1 before position `axis` (-1: at the end).
/// THROWS: ShapeError for a bad axis or beyond kMaxRank axes.
NEAP_API Tensor unsqueeze(const Operand& x, std::int64_t axis);

/// A view without an axis of extent 1, or without all of them.
/// THROWS: ShapeError when the axis has another extent.
NEAP_API Tensor squeeze(const Operand& x);
NEAP_API Tensor squeeze(const Operand& x, std::int64_t axis);

/// Axes first to last (both included) as one; a view where the layout allows
/// it. Rank 0 becomes rank 1.
NEAP_API Tensor flatten(const Operand& x, std::int64_t first = 0,
                        std::int64_t last = -1);

}  // namespace neap
