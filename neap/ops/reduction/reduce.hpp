// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by reductions: reduced shapes, forms over all axes or some, cost. For
// sources of ops only.
#pragma once

#include "neap/ops/shape/axes.hpp"

namespace neap::ops {

/// `shape` with extent 1 along the axes of `mask`.
Shape reduced(const Shape& shape, std::uint64_t mask) noexcept;

/// A reduction over all axes, or some, of an operand: `over` reduces the axes
/// of a mask and keeps them with extent 1. THROWS: as tensor_of and axes_mask.
using ReduceFunction = Tensor (*)(const Operand& x, std::uint64_t axes);
Tensor over_all(std::string_view op, const Operand& x, ReduceFunction over);
Tensor over_some(std::string_view op, const Operand& x, const Shape& axes,
                 bool keepdim, ReduceFunction over);

/// The number of elements that each output is made of.
std::int64_t reduced_count(const Shape& shape, std::uint64_t mask) noexcept;

/// 1 / x, but 0 where x is 0, to any order of derivative.
Tensor inverse_or_zero(const Tensor& x);

/// The cost of a flop for each input element.
graph::Cost cost_of_reduction(const graph::OpArgs& args,
                              std::span<const graph::Spec> outputs);

}  // namespace neap::ops
