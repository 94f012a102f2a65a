// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows of a batch in the memory of a value, and in the views that calls have of
// it: pure arithmetic, for passes that run a call for some rows at a time.
#pragma once

#include <cstdint>
#include <optional>

#include "neap/tensor/layout.hpp"

namespace neap::compiler {

/// Some rows of a batch, one after another.
struct RowRange {
  std::int64_t first = 0;
  std::int64_t count = 0;
};

/// The rows in a dense memory of outer x rows x inner elements.
struct ValueRows {
  std::int64_t outer = 1;
  std::int64_t inner = 0;  // 0: it holds none
  friend bool operator==(const ValueRows&, const ValueRows&) = default;
};

/// The rows along an axis of outer x rows x each positions.
struct RowForm {
  std::int64_t outer = 1;
  std::int64_t each = 1;
  friend bool operator==(const RowForm&, const RowForm&) = default;
};

struct RowAxis {
  int axis = -1;
  RowForm form;
};

/// The axis of a view along which a memory's rows lie, all of them and in
/// order. Nothing: the view takes some rows alone, or mixes them with others
/// along an axis.
std::optional<RowAxis> row_axis(const tensor::Layout& view,
                                const ValueRows& value, std::int64_t rows);

/// The form of an axis of such an extent, where that holds `rows` rows.
std::optional<RowForm> form_of(std::int64_t extent, std::int64_t rows);

/// A shape for so many rows along an axis.
Shape cut_shape(Shape shape, const RowAxis& axis, std::int64_t count);

/// The same view of a memory that holds `count` of the `rows` rows alone.
tensor::Layout view_of_part(const tensor::Layout& view, const ValueRows& value,
                            const RowAxis& axis, std::int64_t rows,
                            std::int64_t count);

/// The part of a view of all rows. REQUIRES: axis.form.outer is 1.
tensor::Layout part_of_view(const tensor::Layout& view, const RowAxis& axis,
                            const RowRange& range);

/// The rows of a dense memory of this shape.
ValueRows rows_in(const Shape& shape, const RowAxis& axis);

}  // namespace neap::compiler
