// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/shape/pad.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/engine/copy.hpp"
#include "neap/kernels/engine/fill.hpp"
#include "neap/kernels/engine/kernel_rows.hpp"
#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/engine/words.hpp"

namespace neap::kernels {
namespace {

// `count` positions of one axis, from `start`.
Strided part_of(const Strided& y, int axis, std::int64_t start,
                std::int64_t count) noexcept {
  Strided part = y;
  part.shape[axis] = count;
  if (part.shape.element_count() != 0) {
    part.data += start * y.strides[axis] * size_of(y.dtype);
  }
  return part;
}

void fill_all(const Strided& y, double value,
              threads::Executor& executor) noexcept {
  const FillAttrs attrs{value};
  fill_kernels.kernels[static_cast<std::size_t>(y.dtype)].run(
      {.in = {},
       .out = {&y, 1},
       .attrs = &attrs,
       .scratch = {},
       .executor = &executor});
}

constexpr std::int64_t kGrain = 16384;  // elements; a range of one thread

// The value as one element: its bytes.
std::uint64_t bits_of(double value, DType dtype) noexcept {
  alignas(8) std::array<std::byte, 8> bytes{};
  fill_all({bytes.data(), dtype, Shape{1}, Shape{1}}, value,
           threads::serial_executor());
  std::uint64_t bits = 0;
  std::memcpy(&bits, bytes.data(), bytes.size());
  return bits;
}

// Rows are often shorter than what a call of memcpy takes: two moves that
// overlap do for many lengths.
template <std::size_t kHalf>
void copy_ends(std::byte* to, const std::byte* from,
               std::size_t bytes) noexcept {
  std::array<std::byte, kHalf> head;
  std::array<std::byte, kHalf> tail;
  std::memcpy(head.data(), from, kHalf);
  std::memcpy(tail.data(), from + bytes - kHalf, kHalf);
  std::memcpy(to, head.data(), kHalf);
  std::memcpy(to + bytes - kHalf, tail.data(), kHalf);
}

void copy_bytes(std::byte* to, const std::byte* from,
                std::size_t bytes) noexcept {
  if (bytes > 128) {
    move_bytes(to, from, bytes);
  } else if (bytes >= 64) {
    copy_ends<64>(to, from, bytes);
  } else if (bytes >= 32) {
    copy_ends<32>(to, from, bytes);
  } else if (bytes >= 16) {
    copy_ends<16>(to, from, bytes);
  } else if (bytes >= 8) {
    copy_ends<8>(to, from, bytes);
  } else {
    for (std::size_t i = 0; i < bytes; ++i) {
      to[i] = from[i];
    }
  }
}

// Walks over the rows of y, along the last axis, and the rows of x beside them:
// each row of y holds one of x with the value around it, or the value alone.
class RowWalk {
 public:
  RowWalk(const Args& args, std::int64_t row) noexcept
      : x_(args.in[0]),
        y_(args.out[0]),
        attrs_(args.attrs_as<PadAttrs>()),
        at_(Shape::filled(y_.shape.rank() - 1, 0)) {
    for (int axis = at_.rank() - 1; axis >= 0; --axis) {
      at_[axis] = row % y_.shape[axis];
      row /= y_.shape[axis];
      x_offset_ += (at_[axis] - before(axis)) * x_.strides[axis];
      y_offset_ += at_[axis] * y_.strides[axis];
    }
  }

  std::int64_t before(int axis) const noexcept {
    return attrs_.before[static_cast<std::size_t>(axis)];
  }
  /// Whether a row of x lies in this row of y.
  bool is_inside() const noexcept {
    bool is_inside = true;
    for (int axis = 0; axis < at_.rank(); ++axis) {
      const std::int64_t from = at_[axis] - before(axis);
      is_inside = is_inside && from >= 0 && from < x_.shape[axis];
    }
    return is_inside;
  }
  template <class T>
  T* y() const noexcept {
    return reinterpret_cast<T*>(y_.data) + y_offset_;
  }
  /// REQUIRES: is_inside().
  template <class T>
  const T* x() const noexcept {
    return reinterpret_cast<const T*>(x_.data) + x_offset_;
  }

  void next() noexcept {
    for (int axis = at_.rank() - 1; axis >= 0; --axis) {
      x_offset_ += x_.strides[axis];
      y_offset_ += y_.strides[axis];
      if (++at_[axis] < y_.shape[axis]) {
        return;
      }
      x_offset_ -= at_[axis] * x_.strides[axis];
      y_offset_ -= at_[axis] * y_.strides[axis];
      at_[axis] = 0;
    }
  }

 private:
  const Strided& x_;
  const Strided& y_;
  const PadAttrs& attrs_;
  Shape at_;  // the row's place along the axes but the last
  std::int64_t x_offset_ = 0;
  std::int64_t y_offset_ = 0;
};

template <class T>
void pad_rows(const Args& args, std::int64_t begin, std::int64_t end,
              T value) noexcept {
  using Word [[gnu::may_alias]] = T;
  const int last = args.out[0].shape.rank() - 1;
  const std::int64_t width = args.out[0].shape[last];
  const std::int64_t inner = args.in[0].shape[last];
  RowWalk walk(args, begin);
  const std::int64_t before = walk.before(last);
  for (std::int64_t row = begin; row < end; ++row, walk.next()) {
    Word* y = walk.y<Word>();
    if (!walk.is_inside()) {
      std::fill_n(y, width, value);
      continue;
    }
    for (std::int64_t i = 0; i < before; ++i) {
      y[i] = value;
    }
    copy_bytes(reinterpret_cast<std::byte*>(y + before),
               reinterpret_cast<const std::byte*>(walk.x<Word>()),
               static_cast<std::size_t>(inner) * sizeof(T));
    for (std::int64_t i = before + inner; i < width; ++i) {
      y[i] = value;
    }
  }
}

// Whether both are dense along the last axis, and there is something of each.
bool takes_rows(const Strided& x, const Strided& y) noexcept {
  return y.shape.rank() > 0 && x.shape.element_count() > 0 &&
         (y.strides.back() == 1 || y.shape.back() == 1) &&
         (x.strides.back() == 1 || x.shape.back() == 1);
}

// Around along axis 0, then around what is left of that along axis 1, ..: no
// element is written twice.
void pad(const Args& args) noexcept {
  const auto& attrs = args.attrs_as<PadAttrs>();
  const Strided& x = args.in[0];
  Strided y = args.out[0];
  if (takes_rows(x, y)) {
    const std::uint64_t bits = bits_of(attrs.value, y.dtype);
    const std::int64_t width = y.shape.back();
    by_word(size_of(y.dtype), [&]<class T>(T*) noexcept {
      threads::parallel_for(*args.executor, y.shape.element_count() / width,
                            kGrain / width + 1,
                            [&](std::int64_t begin, std::int64_t end) noexcept {
                              pad_rows(args, begin, end, static_cast<T>(bits));
                            });
    });
    return;
  }
  for (int axis = 0; axis < y.shape.rank(); ++axis) {
    const std::int64_t start = attrs.before[static_cast<std::size_t>(axis)];
    fill_around(y, axis, start, x.shape[axis], attrs.value, *args.executor);
    y = part_of(y, axis, start, x.shape[axis]);
  }
  copy_elements(x, y, *args.executor);
}

constexpr std::array kKernels = rows_of_every_dtype<"pad">({.run = pad});

}  // namespace

void fill_around(const Strided& y, int axis, std::int64_t start,
                 std::int64_t part, double value,
                 threads::Executor& executor) noexcept {
  const std::int64_t end = start + part;
  fill_all(part_of(y, axis, 0, start), value, executor);
  fill_all(part_of(y, axis, end, y.shape[axis] - end), value, executor);
}

constinit const KernelList pad_kernels{"pad", kKernels};

}  // namespace neap::kernels
