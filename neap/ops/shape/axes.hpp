// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Sets of axes as masks: bit i stands for axis i. For sources of ops only.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

inline std::uint64_t axis_bit(int axis) noexcept {
  return std::uint64_t{1} << static_cast<unsigned>(axis);
}
inline bool has_axis(std::uint64_t mask, int axis) noexcept {
  return (mask & axis_bit(axis)) != 0;
}
inline std::uint64_t all_axes(int rank) noexcept {
  return axis_bit(rank) - 1;
}

/// THROWS: ShapeError for an axis out of range or named twice.
std::uint64_t axes_mask(std::string_view op, const Shape& axes, int rank);

/// A view of `x` without the axes of `mask`, which have extent 1.
Tensor without_axes(const Tensor& x, std::uint64_t mask);

}  // namespace neap::ops
