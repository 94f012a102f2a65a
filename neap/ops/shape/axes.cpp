// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/axes.hpp"

#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

std::uint64_t axes_mask(std::string_view op, const Shape& axes, int rank) {
  std::uint64_t mask = 0;
  for (const std::int64_t axis : axes) {
    const int along = base::normalize_axis(op, axis, rank);
    if (has_axis(mask, along)) {
      raise<ShapeError>("{}: axis {} is named twice in {}", op, axis,
                        format_shape(axes));
    }
    mask |= axis_bit(along);
  }
  return mask;
}

Tensor without_axes(const Tensor& x, std::uint64_t mask) {
  Shape shape;
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (!has_axis(mask, axis)) {
      shape.push_back(x.shape()[axis]);
    }
  }
  return reshape(x, shape);
}

}  // namespace neap::ops
