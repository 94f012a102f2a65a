// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/tile.hpp"

#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace {

void check_times(std::string_view op, std::int64_t times) {
  if (times < 0) {
    base::raise<ShapeError>("{}: {} times, expected 0 or more", op, times);
  }
}

// Takes any rank, since the axes before and behind are taken as one each. With
// `in_place` each position is repeated, else the whole axis. One copy is made,
// by the last reshape.
Tensor repeated(const Tensor& x, int axis, std::int64_t times, bool in_place) {
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (int a = 0; a < x.rank(); ++a) {
    outer *= a < axis ? x.shape()[a] : 1;
    inner *= a > axis ? x.shape()[a] : 1;
  }
  const std::int64_t extent = x.shape()[axis];
  Shape to = x.shape();
  to[axis] = base::checked_mul(extent, times);
  if (in_place) {
    return reshape(expand(reshape(x, {outer, extent, 1, inner}),
                          {outer, extent, times, inner}),
                   to);
  }
  return reshape(expand(reshape(x, {outer, 1, extent, inner}),
                        {outer, times, extent, inner}),
                 to);
}

// True when all repeated axes fit beside the others as axes of their own.
bool fits_at_once(const Shape& shape, const Shape& times) {
  int axes = shape.rank();
  for (int axis = 0; axis < shape.rank(); ++axis) {
    axes += times[axis] != 1 ? 1 : 0;
  }
  return axes <= kMaxRank;
}

// REQUIRES: as many numbers as axes.
Tensor repeat_axes(Tensor x, const Shape& times) {
  if (!fits_at_once(x.shape(), times)) {
    for (int axis = 0; axis < x.rank(); ++axis) {
      x = times[axis] == 1 ? x : repeated(x, axis, times[axis], false);
    }
    return x;
  }
  Shape thin;
  Shape wide;
  Shape to = x.shape();
  for (int axis = 0; axis < x.rank(); ++axis) {
    if (times[axis] != 1) {
      thin.push_back(1);
      wide.push_back(times[axis]);
    }
    thin.push_back(x.shape()[axis]);
    wide.push_back(x.shape()[axis]);
    to[axis] = base::checked_mul(to[axis], times[axis]);
  }
  return reshape(expand(reshape(x, thin), wide), to);
}

Tensor repeat_of(std::string_view op, const Operand& x, const Shape& times,
                 bool may_be_fewer) {
  const ops::AtSite here(x);
  const Tensor& from = ops::tensor_of(op, x);
  Shape all = times;
  while (may_be_fewer && all.rank() < from.rank()) {
    all.insert(0, 1);
  }
  if (all.rank() < from.rank()) {
    base::raise<ShapeError>("{}: {} times {}, expected a number for each axis",
                            op, format_shape(times),
                            format_shape(from.shape()));
  }
  for (const std::int64_t each : all) {
    check_times(op, each);
  }
  Shape shape = from.shape();
  while (shape.rank() < all.rank()) {
    shape.insert(0, 1);
  }
  return repeat_axes(reshape(x, shape), all);
}

}  // namespace

Tensor repeat(const TensorOperand& x, const Shape& times) {
  return repeat_of("repeat", x, times, false);
}

Tensor tile(const TensorOperand& x, const Shape& times) {
  return repeat_of("tile", x, times, true);
}

Tensor repeat_interleave(const TensorOperand& x, std::int64_t times,
                         std::int64_t axis) {
  const ops::AtSite here(x);
  const Tensor& from = ops::tensor_of("repeat_interleave", x);
  const int along =
      base::normalize_axis("repeat_interleave", axis, from.rank());
  check_times("repeat_interleave", times);
  return times == 1 ? from : repeated(from, along, times, true);
}

}  // namespace neap
