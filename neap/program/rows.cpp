// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/program/rows.hpp"

namespace neap::compiler {
namespace {

// One axis of a view after another, against the digits of an element's number:
// outer, row, inner.
class Digits {
 public:
  Digits(const ValueRows& value, std::int64_t rows)
      : value_(value), rows_(rows), block_(rows * value.inner) {}

  // False where the offset is that of another row than the first.
  bool begins_at(std::int64_t offset) {
    within_row_ = offset % value_.inner;
    return offset / value_.inner % rows_ == 0;
  }

  bool takes(int axis, std::int64_t extent, std::int64_t stride) {
    if (extent == 1 || stride == 0) {
      return true;
    }
    if (stride < 0) {
      return false;
    }
    if (stride % block_ == 0) {
      has_outer_ = true;
      return true;
    }
    if (stride * (extent - 1) < value_.inner && stride < value_.inner) {
      within_row_ += stride * (extent - 1);
      return true;
    }
    return takes_rows(axis, extent, stride);
  }

  std::optional<RowAxis> found() const {
    const bool is_good = found_.axis >= 0 && within_row_ < value_.inner &&
                         !(has_outer_ && found_.form.outer != 1);
    return is_good ? std::optional(found_) : std::nullopt;
  }

 private:
  bool takes_rows(int axis, std::int64_t extent, std::int64_t stride) {
    if (found_.axis >= 0 || value_.inner % stride != 0) {
      return false;
    }
    const std::int64_t each = value_.inner / stride;
    const std::int64_t outer = extent / (rows_ * each);
    if (outer * rows_ * each != extent ||
        (outer != 1 && outer != value_.outer)) {
      return false;
    }
    found_ = {axis, {outer, each}};
    within_row_ += stride * (each - 1);
    return true;
  }

  const ValueRows& value_;
  std::int64_t rows_;
  std::int64_t block_;  // elements of all rows
  RowAxis found_;
  std::int64_t within_row_ = 0;  // the farthest element of a row
  bool has_outer_ = false;
};

}  // namespace

std::optional<RowAxis> row_axis(const tensor::Layout& view,
                                const ValueRows& value, std::int64_t rows) {
  if (value.inner == 0 || view.shape.element_count() == 0) {
    return std::nullopt;
  }
  Digits digits(value, rows);
  if (!digits.begins_at(view.offset)) {
    return std::nullopt;
  }
  for (int axis = 0; axis < view.shape.rank(); ++axis) {
    if (!digits.takes(axis, view.shape[axis], view.strides[axis])) {
      return std::nullopt;
    }
  }
  return digits.found();
}

std::optional<RowForm> form_of(std::int64_t extent, std::int64_t rows) {
  if (extent == 0 || extent % rows != 0) {
    return std::nullopt;
  }
  return RowForm{.each = extent / rows};
}

Shape cut_shape(Shape shape, const RowAxis& axis, std::int64_t count) {
  shape[axis.axis] = axis.form.outer * count * axis.form.each;
  return shape;
}

tensor::Layout view_of_part(const tensor::Layout& view, const ValueRows& value,
                            const RowAxis& axis, std::int64_t rows,
                            std::int64_t count) {
  const std::int64_t block = rows * value.inner;
  const std::int64_t part = count * value.inner;
  tensor::Layout out = view;
  out.shape = cut_shape(view.shape, axis, count);
  for (int i = 0; i < view.shape.rank(); ++i) {
    if (i != axis.axis && view.strides[i] % block == 0) {
      out.strides[i] = view.strides[i] / block * part;
    }
  }
  out.offset = view.offset / block * part + view.offset % value.inner;
  return out;
}

tensor::Layout part_of_view(const tensor::Layout& view, const RowAxis& axis,
                            const RowRange& range) {
  const std::int64_t each = axis.form.each;
  return tensor::sliced(
      view, axis.axis,
      tensor::Range{range.first * each, 1, range.count * each});
}

ValueRows rows_in(const Shape& shape, const RowAxis& axis) {
  ValueRows out{.outer = axis.form.outer, .inner = axis.form.each};
  for (int i = 0; i < axis.axis; ++i) {
    out.outer *= shape[i];
  }
  for (int i = axis.axis + 1; i < shape.rank(); ++i) {
    out.inner *= shape[i];
  }
  return out;
}

}  // namespace neap::compiler
