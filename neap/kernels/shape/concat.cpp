// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/shape/concat.hpp"

#include <algorithm>
#include <array>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/words.hpp"

namespace neap::kernels {
namespace {

constexpr std::int64_t kGrain = 16384;     // elements of y
constexpr std::int64_t kShort = 64;        // bytes; memcpy pays beyond
constexpr std::int64_t kBlock = 64 << 10;  // bytes of y, in the L2 cache

// All dense. A row of y is a chunk of the first input, one of the second, ..
struct Join {
  std::span<const Strided> in;
  std::byte* y = nullptr;
  int axis = 0;
  std::int64_t inner = 1;  // elements of one position of the axis
  std::int64_t row = 0;    // elements of y
  std::int64_t rows = 1;
  int size = 0;  // bytes of an element

  std::int64_t chunk_of(const Strided& x) const noexcept {
    return x.shape[axis] * inner;
  }
};

Join plan(const Args& args) noexcept {
  const Strided& y = args.out[0];
  Join join{args.in, y.data, static_cast<int>(args.attrs_as<AxisAttrs>().axis)};
  for (int axis = 0; axis < y.shape.rank(); ++axis) {
    join.rows *= axis < join.axis ? y.shape[axis] : 1;
    join.inner *= axis > join.axis ? y.shape[axis] : 1;
  }
  join.row = join.inner * y.shape[join.axis];
  join.size = size_of(y.dtype);
  return join;
}

// Elements [begin, end) of y, a chunk at a time.
void join_chunks(const Join& join, std::int64_t begin,
                 std::int64_t end) noexcept {
  while (begin < end) {
    const std::int64_t row = begin / join.row;
    std::int64_t skip = begin % join.row;
    for (const Strided& x : join.in) {
      const std::int64_t chunk = join.chunk_of(x);
      const std::int64_t count =
          std::min(chunk - std::min(skip, chunk), end - begin);
      if (count != 0) {
        move_bytes(join.y + begin * join.size,
                   x.data + (row * chunk + skip) * join.size,
                   static_cast<std::size_t>(count * join.size));
        begin += count;
      }
      skip -= std::min(skip, chunk);
    }
  }
}

// Rows [begin, end) of y, an input at a time for as many of them as a cache
// holds: for chunks too short to be copied one by one.
template <class T>
void join_columns(const Join& join, std::int64_t begin,
                  std::int64_t end) noexcept {
  using Word [[gnu::may_alias]] = T;
  const std::int64_t block =
      kBlock / (join.row * static_cast<std::int64_t>(sizeof(T))) + 1;
  for (; begin < end; begin += block) {
    const std::int64_t rows = std::min(block, end - begin);
    Word* to = reinterpret_cast<Word*>(join.y) + begin * join.row;
    for (const Strided& input : join.in) {
      const std::int64_t chunk = join.chunk_of(input);
      const Word* from = input.as<const Word>() + begin * chunk;
      for (std::int64_t row = 0; row < rows; ++row) {
        for (std::int64_t i = 0; i < chunk; ++i) {
          to[row * join.row + i] = from[row * chunk + i];
        }
      }
      to += chunk;
    }
  }
}

void join_dense(const Join& join, threads::Executor& executor) noexcept {
  const auto inputs = static_cast<std::int64_t>(join.in.size());
  if (join.rows > 1 && join.row * join.size <= kShort * inputs) {
    by_word(join.size, [&]<class T>(T*) noexcept {
      threads::parallel_for(executor, join.rows, kGrain / join.row + 1,
                            [&](std::int64_t begin, std::int64_t end) noexcept {
                              join_columns<T>(join, begin, end);
                            });
    });
    return;
  }
  threads::parallel_for(executor, join.rows * join.row, kGrain,
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          join_chunks(join, begin, end);
                        });
}

// Each input to its place in y, whatever the strides.
void join_strided(const Args& args, int axis) noexcept {
  Strided window = args.out[0];
  for (const Strided& x : args.in) {
    window.shape[axis] = x.shape[axis];
    if (x.shape.element_count() != 0) {
      copy_elements(x, window, *args.executor);
      window.data +=
          x.shape[axis] * window.strides[axis] * size_of(window.dtype);
    }
  }
}

bool is_dense(const Strided& view) noexcept {
  return view.shape.element_count() == 0 ||
         strides_are_dense(view.shape, view.strides);
}

void concat(const Args& args) noexcept {
  if (args.out[0].shape.element_count() == 0) {
    return;
  }
  const Join join = plan(args);
  if (is_dense(args.out[0]) && std::ranges::all_of(args.in, is_dense)) {
    join_dense(join, *args.executor);
  } else {
    join_strided(args, join.axis);
  }
}

constexpr std::array kKernels = rows_of_every_dtype<"concat">({.run = concat});

}  // namespace

constinit const KernelList concat_kernels{"concat", kKernels};

}  // namespace neap::kernels
