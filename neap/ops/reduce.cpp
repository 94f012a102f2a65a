// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduce.hpp"

#include <limits>

#include "neap/ops/eq.hpp"
#include "neap/ops/reciprocal.hpp"
#include "neap/ops/reshape.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/where.hpp"

namespace neap::ops {

std::uint64_t axes_mask(const char* op, const Shape& axes, int rank) {
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

Shape reduced(const Shape& shape, std::uint64_t mask) noexcept {
  Shape out = shape;
  for (int axis = 0; axis < out.rank(); ++axis) {
    out[axis] = has_axis(mask, axis) ? 1 : out[axis];
  }
  return out;
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

Tensor over_all(const char* op, const Operand& x, ReduceFunction over) {
  const std::uint64_t mask = all_axes(tensor_of(op, x).rank());
  return without_axes(over(x, mask), mask);
}

Tensor over_some(const char* op, const Operand& x, const Shape& axes,
                 bool keepdim, ReduceFunction over) {
  const std::uint64_t mask = axes_mask(op, axes, tensor_of(op, x).rank());
  const Tensor kept = over(x, mask);
  return keepdim ? kept : without_axes(kept, mask);
}

std::int64_t reduced_count(const Shape& shape, std::uint64_t mask) noexcept {
  std::int64_t count = 1;
  for (int axis = 0; axis < shape.rank(); ++axis) {
    count *= has_axis(mask, axis) ? shape[axis] : 1;
  }
  return count;
}

Tensor inverse_or_zero(const Tensor& x) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return reciprocal(where(eq(x, 0), kInfinity, x));
}

Cost cost_of_reduction(const OpArgs& args, std::span<const Spec> outputs) {
  return moving(args, outputs, args.inputs[0].shape.element_count());
}

}  // namespace neap::ops
