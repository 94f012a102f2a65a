// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/engine/copy.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "hwy/cache_control.h"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/transpose.hpp"
#include "neap/kernels/engine/words.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;  // elements; a range of one thread
constexpr std::int64_t kShortest = 8;   // extents that tiles pay for

// Axes from y's slowest to its fastest, neighbours merged: in which order
// elements are moved is nobody's business.
struct Loops {
  Shape extents;  // at least one axis
  Shape x;        // strides, in elements
  Shape y;
  const std::byte* from = nullptr;
  std::byte* to = nullptr;
  int size = 0;  // bytes of an element

  int last() const noexcept { return extents.rank() - 1; }
};

void swap_axes(Loops& loops, int a, int b) noexcept {
  std::swap(loops.extents[a], loops.extents[b]);
  std::swap(loops.x[a], loops.x[b]);
  std::swap(loops.y[a], loops.y[b]);
}

void erase_axis(Loops& loops, int axis) noexcept {
  loops.extents.erase(axis);
  loops.x.erase(axis);
  loops.y.erase(axis);
}

void sort_axes(Loops& loops) noexcept {
  for (int i = 1; i <= loops.last(); ++i) {
    for (int at = i;
         at > 0 && std::abs(loops.y[at - 1]) < std::abs(loops.y[at]); --at) {
      swap_axes(loops, at - 1, at);
    }
  }
}

Loops plan(const Strided& x, const Strided& y) noexcept {
  Loops loops{y.shape,   broadcast_strides(x, y.shape),
              y.strides, x.data,
              y.data,    size_of(y.dtype)};
  for (int axis = loops.last(); axis >= 0; --axis) {
    if (loops.extents[axis] == 1) {
      erase_axis(loops, axis);
    }
  }
  sort_axes(loops);
  for (int axis = loops.last() - 1; axis >= 0; --axis) {
    const std::int64_t extent = loops.extents[axis + 1];
    if (loops.x[axis] == loops.x[axis + 1] * extent &&
        loops.y[axis] == loops.y[axis + 1] * extent) {
      loops.extents[axis + 1] *= loops.extents[axis];
      erase_axis(loops, axis);
    }
  }
  if (loops.extents.rank() == 0) {
    loops.extents.push_back(1);
    loops.x.push_back(1);
    loops.y.push_back(1);
  }
  return loops;
}

// A position in x and y, which walks row by row.
struct Place {
  Shape at;
  std::int64_t x = 0;
  std::int64_t y = 0;

  Place(const Loops& loops, std::int64_t index) noexcept
      : at(Shape::filled(loops.extents.rank(), 0)) {
    for (int axis = loops.last(); axis >= 0; --axis) {
      at[axis] = index % loops.extents[axis];
      index /= loops.extents[axis];
      x += at[axis] * loops.x[axis];
      y += at[axis] * loops.y[axis];
    }
  }
  // To the start of the next position of the axes before `axis`.
  void next(const Loops& loops, int axis) noexcept {
    for (int a = axis; a < loops.extents.rank(); ++a) {
      x -= at[a] * loops.x[a];
      y -= at[a] * loops.y[a];
      at[a] = 0;
    }
    for (int a = axis - 1; a >= 0; --a) {
      x += loops.x[a];
      y += loops.y[a];
      if (++at[a] < loops.extents[a]) {
        return;
      }
      x -= at[a] * loops.x[a];
      y -= at[a] * loops.y[a];
      at[a] = 0;
    }
  }
};

// A row, from x's last element to its first where it steps backward.
template <class T>
void copy_row(const Loops& loops, const T* x, T* y,
              std::int64_t count) noexcept {
  using Word [[gnu::may_alias]] = T;
  const std::int64_t x_step = loops.x[loops.last()];
  const std::int64_t y_step = loops.y[loops.last()];
  if (x_step == -1 && y_step == 1) {
    const Word* from = x;
    Word* to = y;
    for (std::int64_t i = 0; i < count; ++i) {
      to[i] = from[-i];
    }
    return;
  }
  move_run<sizeof(T)>(reinterpret_cast<const std::byte*>(x), x_step,
                      reinterpret_cast<std::byte*>(y), y_step, count);
}

// The row after the next, where x jumps from row to row: what fetches ahead by
// itself does not follow.
template <class T>
void fetch_ahead(const Loops& loops, const T* x, std::int64_t count) noexcept {
  constexpr std::int64_t kLine = 64 / static_cast<std::int64_t>(sizeof(T));
  const T* next = x + 2 * loops.x[loops.last() - 1];
  for (std::int64_t i = 0; i < count; i += kLine) {
    hwy::Prefetch(next + i);
  }
}

template <class T>
void copy_rows(const Loops& loops, std::int64_t begin,
               std::int64_t end) noexcept {
  constexpr std::int64_t kLongest = 4096;  // bytes; a page
  const int last = loops.last();
  const T* from = reinterpret_cast<const T*>(loops.from);
  T* to = reinterpret_cast<T*>(loops.to);
  const std::int64_t row = loops.extents[last];
  const bool fetches = last > 0 && loops.x[last] == 1 &&
                       row * loops.size <= kLongest && row * loops.size >= 64;
  Place place(loops, begin);
  while (begin < end) {
    const std::int64_t count = std::min(row - place.at[last], end - begin);
    if (fetches) {
      fetch_ahead(loops, from + place.x, count);
    }
    copy_row(loops, from + place.x, to + place.y, count);
    place.next(loops, last);
    begin += count;
  }
}

void copy_range(const Loops& loops, std::int64_t begin,
                std::int64_t end) noexcept {
  by_word(loops.size,
          [&]<class T>(T*) noexcept { copy_rows<T>(loops, begin, end); });
}

// The axis that x is dense along where y is so along another, both long; -1:
// none.
int transposed_axis(const Loops& loops) noexcept {
  const int last = loops.last();
  if (loops.y[last] != 1 || loops.x[last] == 1 || loops.x[last] == 0 ||
      loops.extents[last] < kShortest) {
    return -1;
  }
  for (int axis = 0; axis < last; ++axis) {
    if (loops.x[axis] == 1 && loops.extents[axis] >= kShortest) {
      return axis;
    }
  }
  return -1;
}

// The axis comes next to the last; threads divide the others and its tiles.
void copy_transposed(Loops& loops, int axis,
                     threads::Executor& executor) noexcept {
  const int last = loops.last();
  for (; axis + 1 < last; ++axis) {
    swap_axes(loops, axis, axis + 1);
  }
  const std::int64_t columns = loops.extents[last];
  const std::int64_t rows = loops.extents[axis];
  const std::int64_t high = tile_side(loops.size);
  const std::int64_t bands = (rows - 1) / high + 1;
  std::int64_t matrices = 1;
  for (int a = 0; a < axis; ++a) {
    matrices *= loops.extents[a];
  }
  const auto copy_bands = [&](std::int64_t begin, std::int64_t end) noexcept {
    for (std::int64_t item = begin; item < end; ++item) {
      const std::int64_t row = item % bands * high;
      const Place place(loops, (item / bands * rows + row) * columns);
      transpose_tiles(
          {loops.from + place.x * loops.size, loops.to + place.y * loops.size,
           loops.x[last], loops.y[axis], std::min(high, rows - row), columns},
          loops.size);
    }
  };
  threads::parallel_for(executor, matrices * bands,
                        kGrain / (std::min(high, rows) * columns) + 1,
                        copy_bands);
}

void copy(const Args& args) noexcept {
  copy_elements(args.in[0], args.out[0], *args.executor);
}

constexpr std::array kKernels = rows_of_every_dtype<"copy">({.run = copy});

}  // namespace

constinit const KernelList copy_kernels{"copy", kKernels};

void copy_elements(const Strided& x, const Strided& y,
                   threads::Executor& executor) noexcept {
  const std::int64_t count = y.shape.element_count();
  if (count == 0) {
    return;
  }
  Loops loops = plan(x, y);
  const int axis = transposed_axis(loops);
  if (axis >= 0) {
    copy_transposed(loops, axis, executor);
    return;
  }
  threads::parallel_for(executor, count, kGrain,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          copy_range(loops, begin, end);
                        });
}

}  // namespace neap::kernels
