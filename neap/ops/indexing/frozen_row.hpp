// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kFrozenRow;

/// Attributes of frozen_row.
struct RowAttrs {
  std::int64_t row = 0;
};

/// A view of all of x (rows, ..) through which row `row` counts as a constant:
/// its cotangent and its tangent are 0. f32, f64. REQUIRES: the row exists.
NEAP_API Tensor frozen_row(const Operand& x, std::int64_t row);

}  // namespace neap::ops
