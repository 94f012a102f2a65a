// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The loops of gather, scatter and scatter_add. All three walk an array of
// indices beside a list of as many elements, and meet each of them with one
// element of a table:
//
//   table[.., index[.., i, ..], ..]   list[.., i, ..]      one axis indexed
//
// Neighbouring axes that every operand steps through alike are merged, so that
// whole rows move at once where an index is the same all along them (an index
// expanded to rows has stride 0 there).
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// Strides are in elements, along the merged axes.
struct IndexedLoops {
  Shape extents;  // of the index, merged; the indexed axis stays by itself
  Shape table;    // 0 along the indexed axis: the index says where
  Shape index;
  Shape list;
  int axis = 0;            // the indexed one
  std::int64_t reach = 0;  // the table's stride along the indexed axis
  std::int64_t slots = 0;  // the table's extent there
};

/// `count` indices in a line, from the offsets given.
struct IndexedRun {
  std::int64_t table = 0;
  std::int64_t index = 0;
  std::int64_t list = 0;
  std::int64_t count = 0;
  int axis = 0;  // that it runs along
};

IndexedLoops plan_indexed(const Strided& table, const Strided& index,
                          const Strided& list, std::int64_t axis) noexcept;

using IndexedRunFunction = void (*)(const void* context,
                                    const IndexedRun& run) noexcept;

/// Runs that cover the indices [begin, end) in row-major order.
void for_each_indexed_row(const IndexedLoops& loops, std::int64_t begin,
                          std::int64_t end, IndexedRunFunction function,
                          const void* context) noexcept;

/// How many lines along the indexed axis there are.
std::int64_t fiber_count(const IndexedLoops& loops) noexcept;

/// Runs that cover the lines [begin, end), numbered in row-major order of the
/// other axes, such that each line's indices come in order.
void for_each_indexed_fiber(const IndexedLoops& loops, std::int64_t begin,
                            std::int64_t end, IndexedRunFunction function,
                            const void* context) noexcept;

}  // namespace neap::kernels
