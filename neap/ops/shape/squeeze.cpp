// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/squeeze.hpp"

#include "neap/ops/shape/reshape.hpp"
#include "neap/ops/support.hpp"

namespace neap {

Tensor unsqueeze(const Operand& x, std::int64_t axis) {
  Shape shape = ops::tensor_of("unsqueeze", x).shape();
  shape.insert(base::normalize_axis("unsqueeze", axis, shape.rank() + 1), 1);
  return reshape(x, shape);
}

Tensor squeeze(const Operand& x) {
  Shape shape;
  for (const std::int64_t extent : ops::tensor_of("squeeze", x).shape()) {
    if (extent != 1) {
      shape.push_back(extent);
    }
  }
  return reshape(x, shape);
}

Tensor squeeze(const Operand& x, std::int64_t axis) {
  Shape shape = ops::tensor_of("squeeze", x).shape();
  const int along = base::normalize_axis("squeeze", axis, shape.rank());
  if (shape[along] != 1) {
    base::raise<ShapeError>("squeeze: axis {} of {} has not extent 1", axis,
                            format_shape(shape));
  }
  shape.erase(along);
  return reshape(x, shape);
}

Tensor flatten(const Operand& x, std::int64_t first, std::int64_t last) {
  const Shape& from = ops::tensor_of("flatten", x).shape();
  if (from.rank() == 0) {
    return reshape(x, {1});
  }
  const int begin = base::normalize_axis("flatten", first, from.rank());
  const int end = base::normalize_axis("flatten", last, from.rank());
  if (begin > end) {
    base::raise<ShapeError>("flatten: axis {} comes after axis {}", first,
                            last);
  }
  Shape shape = from;
  for (int axis = end; axis > begin; --axis) {
    shape[axis - 1] = base::checked_mul(shape[axis - 1], shape[axis]);
    shape.erase(axis);
  }
  return reshape(x, shape);
}

}  // namespace neap
