// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A view seen as rows along one axis, and rows read and written in dense blocks
// whatever their stride.
#pragma once

#include <algorithm>

#include "neap/kernels/engine/strides.hpp"
#include "neap/kernels/reduction/reduce.hpp"

namespace neap::kernels {

/// The rows of `view` along `axis`, numbered row-major by the other axes.
class Rows {
 public:
  Rows(const Strided& view, int axis) noexcept
      : view_(view),
        length_(view.shape[axis]),
        stride_(length_ == 1 ? 1 : view.strides[axis]) {
    view_.shape.erase(axis);
    view_.strides.erase(axis);
    step_ = step_of(view_.shape, view_.strides);
  }

  std::int64_t count() const noexcept { return view_.shape.element_count(); }
  std::int64_t length() const noexcept { return length_; }
  std::int64_t stride() const noexcept { return stride_; }

  /// Whether rows [first, first + count) lie side by side: element j of each
  /// next to element j of the one before.
  bool are_adjacent(std::int64_t first, std::int64_t count) const noexcept {
    if (step_ == 1 || view_.shape.rank() == 0) {
      return true;
    }
    return view_.strides.back() == 1 &&
           first % view_.shape.back() + count <= view_.shape.back();
  }

  /// How many rows from `first` on lie side by side.
  std::int64_t adjacent_from(std::int64_t first) const noexcept {
    if (step_ == 1 || view_.shape.rank() == 0) {
      return count() - first;
    }
    const std::int64_t run = adjacent_run();
    return run - first % run;
  }
  /// How many rows lie side by side, over and over again.
  std::int64_t adjacent_run() const noexcept {
    if (step_ == 1 || view_.shape.rank() == 0) {
      return count();
    }
    return view_.strides.back() == 1 ? view_.shape.back() : 1;
  }

  /// The first element of a row.
  template <class T>
  T* at(std::int64_t row) const noexcept {
    return view_.as<T>() + (step_ >= 0
                                ? row * step_
                                : offset_at(view_.shape, view_.strides, row));
  }

  /// Rows in a thread's smallest range, for `elements` of work.
  std::int64_t grain(std::int64_t elements) const noexcept {
    return elements / std::max<std::int64_t>(length_, 1) + 1;
  }

 private:
  // The step from any row to the next; -1 where that varies or leads backward.
  static std::int64_t step_of(const Shape& shape,
                              const Shape& strides) noexcept {
    std::int64_t step = -1;
    std::int64_t next = -1;  // the stride of an axis that continues
    for (int axis = shape.rank() - 1; axis >= 0; --axis) {
      if (shape[axis] == 1) {
        continue;
      }
      if (step >= 0 && strides[axis] != next) {
        return -1;
      }
      step = step >= 0 ? step : strides[axis];
      if (step < 0) {
        return -1;
      }
      next = strides[axis] * shape[axis];
    }
    return std::max<std::int64_t>(step, 0);
  }

  Strided view_;  // without the axis
  std::int64_t length_;
  std::int64_t stride_;  // elements
  std::int64_t step_;    // elements
};

/// Works on rows [begin, end).
using RowsFunction = void (*)(const Args& args, std::int64_t begin,
                              std::int64_t end);

/// Divides the rows among the threads. `function` throws nothing.
inline void run_rows(const Args& args, const Rows& rows,
                     RowsFunction function) noexcept {
  constexpr std::int64_t kWork = 4096;  // elements; a range of one thread
  threads::parallel_for(*args.executor, rows.length() == 0 ? 0 : rows.count(),
                        rows.grain(kWork),
                        [&](std::int64_t begin, std::int64_t end) noexcept {
                          function(args, begin, end);
                        });
}

/// Blocks of one row: elements [first, first + count), count <= kReduceBlock.
template <class T>
class RowBlock {
 public:
  explicit RowBlock(const Rows& rows) noexcept : stride_(rows.stride()) {}

  /// The block as a dense array, for reading; valid until the next call.
  const T* read(const T* row, std::int64_t first, std::int64_t count) noexcept {
    if (stride_ == 1) {
      return row + first;
    }
    move_run<sizeof(T)>(
        reinterpret_cast<const std::byte*>(row + first * stride_), stride_,
        reinterpret_cast<std::byte*>(buffer_.data()), 1, count);
    return buffer_.data();
  }

  /// An address to put the block at, to be followed by commit().
  T* place(T* row, std::int64_t first) noexcept {
    return stride_ == 1 ? row + first : buffer_.data();
  }
  void commit(T* row, std::int64_t first, std::int64_t count) noexcept {
    if (stride_ != 1) {
      move_run<sizeof(T)>(reinterpret_cast<const std::byte*>(buffer_.data()), 1,
                          reinterpret_cast<std::byte*>(row + first * stride_),
                          stride_, count);
    }
  }

 private:
  std::int64_t stride_;  // elements
  alignas(64) std::array<T, kReduceBlock> buffer_;
};

}  // namespace neap::kernels
