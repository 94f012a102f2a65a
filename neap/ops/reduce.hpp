// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What reductions share: axes as masks (bit i: axis i), reduced shapes, cost.
// For sources of ops only.
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
std::uint64_t axes_mask(const char* op, const Shape& axes, int rank);

/// `shape` with extent 1 along the axes of `mask`.
Shape reduced(const Shape& shape, std::uint64_t mask) noexcept;

/// A view of `x` without the axes of `mask`, which have extent 1.
Tensor without_axes(const Tensor& x, std::uint64_t mask);

/// A reduction over all axes, or some, of an operand: `over` reduces the axes
/// of a mask and keeps them with extent 1. THROWS: as tensor_of and axes_mask.
using ReduceFunction = Tensor (*)(const Operand& x, std::uint64_t axes);
Tensor over_all(const char* op, const Operand& x, ReduceFunction over);
Tensor over_some(const char* op, const Operand& x, const Shape& axes,
                 bool keepdim, ReduceFunction over);

/// The number of elements that each output is made of.
std::int64_t reduced_count(const Shape& shape, std::uint64_t mask) noexcept;

/// 1 / x, but 0 where x is 0, to any order of derivative.
Tensor inverse_or_zero(const Tensor& x);

/// One flop an input element.
graph::Cost cost_of_reduction(const graph::OpArgs& args,
                              std::span<const graph::Spec> outputs);

}  // namespace neap::ops
