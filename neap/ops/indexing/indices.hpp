// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the ops that take indices. For sources of ops only.
#pragma once

#include "neap/graph/operand.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

/// The meaning of an index below zero.
enum class Negative : std::uint8_t {
  kRefused,
  kFromEnd,  // -1 is the last element
};

/// Kernels cannot refuse a value, so indices are looked at before: those in
/// host memory. RETURNS: whether one is negative (true where they cannot be
/// looked at). THROWS: DTypeError unless i32 or i64; ValueError naming the
/// first one, and its place, outside [0, extent), or [-extent, extent).
bool check_indices(const char* op, const Tensor& index, int axis,
                   std::int64_t extent, Negative negative = Negative::kRefused);

/// `index` (n) as an index of all of `shape`, of which axis `axis` has n
/// elements: a view that repeats each of them along the other axes.
Tensor spread_index(const Tensor& index, const Shape& shape, int axis);

/// The shape rule of gather and scatter: index i32 or i64, of as many axes as
/// x, no longer than x along any but `axis`.
void check_index_shape(std::string_view op, const Spec& x, const Spec& index,
                       int axis);

/// The shape rule of scatter: that of check_index_shape, and src has x's dtype
/// and the index's shape.
void infer_scatter(const OpArgs& args, std::span<Spec> out);

/// The operands of scatter and scatter_add; src may be longer than the index.
/// RETURNS: the axis, counted from the start. THROWS: as scatter.
int check_scatter(const char* op, const Tensor& x, std::int64_t axis,
                  const Tensor& index, const Tensor& src);

/// The first elements of src along every axis: a view of the given shape.
Tensor cut_to(const Operand& src, const Shape& shape);

}  // namespace neap::ops
