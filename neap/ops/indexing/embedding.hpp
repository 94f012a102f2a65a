// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows of tables by integers: embedding and one_hot, and the view through which
// a row is a constant.
#pragma once

#include <optional>

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kFrozenRow;
NEAP_API extern const graph::Op kOneHot;
}  // namespace ops

/// Row weight[id] for every id: weight (rows, width), ids (...) i32 or i64 give
/// (..., width). Row `padding` (negative: from the end) counts as a constant:
/// its gradient is 0. dweight adds up the rows of dy in row-major order of the
/// ids, and touches no others but to make them 0. A weight in bf16 is a
/// constant, and its rows are widened to f32.
/// THROWS: ShapeError unless weight has two axes; DTypeError, also for a weight
/// in bf16 that requires a gradient; ValueError for an
/// id outside [0, rows) in host memory, or a padding that is no row.
NEAP_API Tensor embedding(const Operand& weight, const Operand& ids,
                          std::optional<std::int64_t> padding = std::nullopt);

namespace ops {

/// Attributes of frozen_row.
struct RowAttrs {
  std::int64_t row = 0;
};

/// A view of all of x (rows, ..) through which row `row` counts as a constant:
/// its cotangent and its tangent are 0. f32, f64. REQUIRES: the row exists.
NEAP_API Tensor frozen_row(const TensorOperand& x, std::int64_t row);

/// Attributes of one_hot.
struct OneHotAttrs {
  std::int64_t classes = 0;
  DType dtype = DType::kF32;
  std::array<std::uint8_t, 7> padding{};
};
}  // namespace ops

/// labels (...) i64 as (..., classes): 1 at the label, else 0.
/// THROWS: DTypeError; ValueError for negative classes, or a label outside [0,
/// classes) in host memory.
NEAP_API Tensor one_hot(const TensorOperand& labels, std::int64_t classes,
                        DType dtype = f32);

}  // namespace neap
