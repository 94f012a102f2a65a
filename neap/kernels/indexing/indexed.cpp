// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/indexing/indexed.hpp"

#include <algorithm>

#include "neap/kernels/engine/strides.hpp"

namespace neap::kernels {
namespace {

bool can_merge(const IndexedLoops& loops, int axis) noexcept {
  const auto is_one_step = [&](const Shape& strides) {
    return strides[axis] == strides[axis + 1] * loops.extents[axis + 1];
  };
  return axis != loops.axis && axis + 1 != loops.axis &&
         is_one_step(loops.table) && is_one_step(loops.index) &&
         is_one_step(loops.list);
}

void erase_axis(IndexedLoops& loops, int axis) noexcept {
  for (Shape* shape :
       {&loops.extents, &loops.table, &loops.index, &loops.list}) {
    shape->erase(axis);
  }
  loops.axis -= axis < loops.axis ? 1 : 0;
}

// Product of the extents of the axes [first, last).
std::int64_t count_of(const Shape& extents, int first, int last) noexcept {
  std::int64_t count = 1;
  for (int axis = first; axis < last; ++axis) {
    count *= extents[axis];
  }
  return count;
}

// The place of index `at` of the axes [first, last), row-major.
void advance(const IndexedLoops& loops, int first, int last, std::int64_t at,
             IndexedRun& run) noexcept {
  for (int axis = last - 1; axis >= first; --axis) {
    const std::int64_t here = at % loops.extents[axis];
    at /= loops.extents[axis];
    run.table += here * loops.table[axis];
    run.index += here * loops.index[axis];
    run.list += here * loops.list[axis];
  }
}

void step(const IndexedLoops& loops, int axis, std::int64_t by,
          IndexedRun& run) noexcept {
  run.table += by * loops.table[axis];
  run.index += by * loops.index[axis];
  run.list += by * loops.list[axis];
}

// The runs of one line of lines: positions [begin, end) of the axes after the
// indexed one, for each index along it.
void trailing_runs(const IndexedLoops& loops, std::int64_t begin,
                   std::int64_t end, IndexedRun start,
                   IndexedRunFunction function, const void* context) noexcept {
  const int rank = loops.extents.rank();
  const std::int64_t inner = loops.extents.back();
  for (std::int64_t i = 0; i < loops.extents[loops.axis]; ++i) {
    for (std::int64_t at = begin; at < end;) {
      IndexedRun run = start;
      run.axis = rank - 1;
      run.count = std::min(end - at, inner - at % inner);
      advance(loops, loops.axis + 1, rank, at, run);
      function(context, run);
      at += run.count;
    }
    step(loops, loops.axis, 1, start);
  }
}

}  // namespace

IndexedLoops plan_indexed(const Strided& table, const Strided& index,
                          const Strided& list, std::int64_t axis) noexcept {
  IndexedLoops loops{index.shape, table.strides, index.strides, list.strides,
                     static_cast<int>(axis)};
  loops.reach = table.strides[loops.axis];
  loops.slots = table.shape[loops.axis];
  loops.table[loops.axis] = 0;
  for (int at = loops.extents.rank() - 1; at >= 0; --at) {
    if (loops.extents[at] == 1 && at != loops.axis) {
      erase_axis(loops, at);
    } else if (at + 1 < loops.extents.rank() && can_merge(loops, at)) {
      loops.extents[at + 1] *= loops.extents[at];
      erase_axis(loops, at);
    }
  }
  return loops;
}

void for_each_indexed_row(const IndexedLoops& loops, std::int64_t begin,
                          std::int64_t end, IndexedRunFunction function,
                          const void* context) noexcept {
  const int last = loops.extents.rank() - 1;
  const std::int64_t inner = loops.extents[last];
  Shape at = Shape::filled(last + 1, 0);
  std::int64_t rest = begin;
  for (int axis = last; axis >= 0; --axis) {
    at[axis] = rest % loops.extents[axis];
    rest /= loops.extents[axis];
  }
  IndexedRun run;
  advance(loops, 0, last + 1, begin, run);
  run.axis = last;
  while (begin < end) {
    run.count = std::min(inner - at[last], end - begin);
    function(context, run);
    begin += run.count;
    step(loops, last, -at[last], run);
    at[last] = 0;
    for (int axis = last - 1; axis >= 0; --axis) {
      step(loops, axis, 1, run);
      if (++at[axis] < loops.extents[axis]) {
        break;
      }
      step(loops, axis, -at[axis], run);
      at[axis] = 0;
    }
  }
}

std::int64_t fiber_count(const IndexedLoops& loops) noexcept {
  return count_of(loops.extents, 0, loops.axis) *
         count_of(loops.extents, loops.axis + 1, loops.extents.rank());
}

void for_each_indexed_fiber(const IndexedLoops& loops, std::int64_t begin,
                            std::int64_t end, IndexedRunFunction function,
                            const void* context) noexcept {
  const std::int64_t trailing =
      count_of(loops.extents, loops.axis + 1, loops.extents.rank());
  while (begin < end) {
    IndexedRun run;
    advance(loops, 0, loops.axis, begin / trailing, run);
    const std::int64_t first = begin % trailing;
    const std::int64_t count = std::min(end - begin, trailing - first);
    if (trailing == 1) {
      run.axis = loops.axis;
      run.count = loops.extents[loops.axis];
      function(context, run);
    } else {
      trailing_runs(loops, first, first + count, run, function, context);
    }
    begin += count;
  }
}

}  // namespace neap::kernels
