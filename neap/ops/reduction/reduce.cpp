// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/reduce.hpp"

#include <limits>

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

Shape reduced(const Shape& shape, std::uint64_t mask) noexcept {
  Shape out = shape;
  for (int axis = 0; axis < out.rank(); ++axis) {
    out[axis] = has_axis(mask, axis) ? 1 : out[axis];
  }
  return out;
}

Tensor over_all(std::string_view op, const Operand& x, ReduceFunction over) {
  const std::uint64_t mask = all_axes(tensor_of(op, x).rank());
  return without_axes(over(x, mask), mask);
}

Tensor over_some(std::string_view op, const Operand& x, const Shape& axes,
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
