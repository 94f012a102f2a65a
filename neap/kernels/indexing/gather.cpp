// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/indexing/gather.hpp"

#include <array>

#include "hwy/cache_control.h"
#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/words.hpp"
#include "neap/kernels/indexing/indexed.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // elements of y

struct Gathering {
  IndexedLoops loops;
  const std::byte* x = nullptr;
  const std::byte* index = nullptr;
  std::byte* y = nullptr;
};

template <class T, class Index>
void gather_run(const void* context, const IndexedRun& run) noexcept {
  using Word [[gnu::may_alias]] = T;
  const auto& call = *static_cast<const Gathering*>(context);
  const IndexedLoops& loops = call.loops;
  const auto axis = run.axis;
  const Word* x = reinterpret_cast<const Word*>(call.x) + run.table;
  const Index* index = reinterpret_cast<const Index*>(call.index) + run.index;
  Word* y = reinterpret_cast<Word*>(call.y) + run.list;
  const std::int64_t x_step = loops.table[axis];
  const std::int64_t index_step = loops.index[axis];
  const std::int64_t y_step = loops.list[axis];
  if (index_step == 0) {
    x += static_cast<std::int64_t>(*index) * loops.reach;
    move_run<sizeof(Word)>(reinterpret_cast<const std::byte*>(x), x_step,
                           reinterpret_cast<std::byte*>(y), y_step, run.count);
  } else if (index_step == 1 && y_step == 1 && x_step == 0 &&
             loops.reach == 1) {
    for (std::int64_t i = 0; i < run.count; ++i) {
      y[i] = x[index[i]];
    }
  } else {
    for (std::int64_t i = 0; i < run.count; ++i) {
      const auto at = static_cast<std::int64_t>(index[i * index_step]);
      y[i * y_step] = x[i * x_step + at * loops.reach];
    }
  }
}

// Rows of a matrix: one index a row, dense on both sides.
bool takes_rows(const IndexedLoops& loops) noexcept {
  return loops.extents.rank() == 2 && loops.axis == 0 && loops.index[1] == 0 &&
         loops.table[1] == 1 && loops.list[1] == 1;
}

// Memory is asked for the row after the next ahead of time: nothing else knows
// where it is.
template <class Index>
void gather_rows(const Gathering& call, std::int64_t begin, std::int64_t end,
                 int size) noexcept {
  constexpr std::int64_t kLine = 64;
  constexpr std::int64_t kMost = 1024;  // bytes asked for; the rest is in line
  const IndexedLoops& loops = call.loops;
  const auto* index = reinterpret_cast<const Index*>(call.index);
  const std::int64_t bytes = loops.extents[1] * size;
  const auto row_of = [&](std::int64_t row) noexcept {
    const auto at = static_cast<std::int64_t>(index[row * loops.index[0]]);
    return call.x + at * loops.reach * size;
  };
  for (std::int64_t row = begin; row < end; ++row) {
    if (row + 2 < end) {
      const std::byte* next = row_of(row + 2);
      for (std::int64_t i = 0; i < std::min(bytes, kMost); i += kLine) {
        hwy::Prefetch(next + i);
      }
    }
    move_bytes(call.y + row * loops.list[0] * size, row_of(row),
               static_cast<std::size_t>(bytes));
  }
}

template <class Index>
IndexedRunFunction run_by_size(int size) noexcept {
  return by_word(size, []<class T>(T*) noexcept -> IndexedRunFunction {
    return gather_run<T, Index>;
  });
}

void gather_elements(const Args& args) noexcept {
  const Strided& x = args.in[0];
  const Strided& index = args.in[1];
  const Strided& y = args.out[0];
  const std::int64_t count = y.shape.element_count();
  if (count == 0) {
    return;
  }
  const Gathering call{
      plan_indexed(x, index, y, args.attrs_as<AxisAttrs>().axis), x.data,
      index.data, y.data};
  const int size = size_of(y.dtype);
  if (takes_rows(call.loops)) {
    const std::int64_t width = call.loops.extents[1];
    threads::parallel_for(
        *args.executor, call.loops.extents[0], kGrain / width + 1,
        [&](std::int64_t begin, std::int64_t end) noexcept {
          index.dtype == i32
              ? gather_rows<std::int32_t>(call, begin, end, size)
              : gather_rows<std::int64_t>(call, begin, end, size);
        });
    return;
  }
  const IndexedRunFunction run = index.dtype == i32
                                     ? run_by_size<std::int32_t>(size)
                                     : run_by_size<std::int64_t>(size);
  threads::parallel_for(*args.executor, count, kGrain,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          for_each_indexed_row(call.loops, begin, end, run,
                                               &call);
                        });
}

constexpr std::array kKernels =
    rows_of_every_dtype<"gather">({.run = gather_elements});

}  // namespace

constinit const KernelList gather_kernels{"gather", kKernels};

}  // namespace neap::kernels
