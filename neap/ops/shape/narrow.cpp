// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/narrow.hpp"

#include "neap/ops/shape/axes.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor narrow(const Operand& x, std::int64_t axis, std::int64_t start,
              std::int64_t length) {
  const Shape& shape = ops::tensor_of("narrow", x).shape();
  const int along = base::normalize_axis("narrow", axis, shape.rank());
  const std::int64_t first = start < 0 ? start + shape[along] : start;
  if (first < 0 || length < 0 || first > shape[along] - length) {
    base::raise<ShapeError>(
        "narrow: {} elements from {} do not fit axis {} of {}", length, start,
        axis, format_shape(shape));
  }
  return slice(x, along, first, first + length);
}

Tensor select(const Operand& x, std::int64_t axis, std::int64_t position) {
  const ops::AtSite here(x);
  const Shape& shape = ops::tensor_of("select", x).shape();
  const int along = base::normalize_axis("select", axis, shape.rank());
  const std::int64_t at = position < 0 ? position + shape[along] : position;
  if (at < 0 || at >= shape[along]) {
    base::raise<ShapeError>(
        "select: position {} out of range for axis {} of {}", position, axis,
        format_shape(shape));
  }
  return ops::without_axes(slice(x, along, at, at + 1), ops::axis_bit(along));
}

}  // namespace neap
