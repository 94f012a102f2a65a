// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A view seen as matrices over its last two axes, and small dense matrices in
// scratch: what the kernels of linear algebra share.
#pragma once

#include <algorithm>
#include <limits>

#include "neap/kernels/engine/strides.hpp"

namespace neap::kernels {

inline Shape without_matrix(const Shape& shape) noexcept {
  return Shape(shape.span().first(static_cast<std::size_t>(shape.rank() - 2)));
}

/// The matrices of `view`, broadcast to the leading axes `leading` and numbered
/// by them in row-major order.
class Matrices {
 public:
  Matrices(const Strided& view, const Shape& leading) noexcept
      : data_(view.data),
        size_(size_of(view.dtype)),
        leading_(leading),
        rows_(view.shape.back(2)),
        columns_(view.shape.back(1)),
        row_stride_(view.strides.back(2)),
        column_stride_(view.strides.back(1)) {
    Strided outer = view;
    outer.shape = without_matrix(view.shape);
    outer.strides = without_matrix(view.strides);
    strides_ = broadcast_strides(outer, leading);
  }

  std::int64_t count() const noexcept { return leading_.element_count(); }
  std::int64_t rows() const noexcept { return rows_; }
  std::int64_t columns() const noexcept { return columns_; }
  std::int64_t row_stride() const noexcept { return row_stride_; }
  std::int64_t column_stride() const noexcept { return column_stride_; }

  template <class T>
  T* at(std::int64_t matrix) const noexcept {
    return reinterpret_cast<T*>(data_ +
                                offset_at(leading_, strides_, matrix) * size_);
  }

  /// Copies one matrix to dense rows; `to` may be the matrix itself.
  template <class T>
  void read(std::int64_t matrix, T* to) const noexcept {
    const T* from = at<const T>(matrix);
    for (std::int64_t i = 0; i < rows_; ++i) {
      if (column_stride_ == 1) {
        std::copy_n(from + i * row_stride_, columns_, to + i * columns_);
        continue;
      }
      for (std::int64_t j = 0; j < columns_; ++j) {
        to[i * columns_ + j] = from[i * row_stride_ + j * column_stride_];
      }
    }
  }

 private:
  std::byte* data_;
  std::int64_t size_;
  Shape leading_;
  Shape strides_;
  std::int64_t rows_;
  std::int64_t columns_;
  std::int64_t row_stride_;     // elements
  std::int64_t column_stride_;  // elements
};

/// Parts that `count` matrices of n x n are divided into.
inline int matrix_parts(const Args& args, std::int64_t count,
                        std::int64_t n) noexcept {
  constexpr std::int64_t kWork = 32768;  // multiplications; a part's least
  const std::int64_t worth = kWork / std::max<std::int64_t>(n * n * n, 1) + 1;
  return threads::range_count(*args.executor, count, worth);
}

/// Calls body(matrix, scratch) for each of `count` matrices of n x n, `scratch`
/// being that part's own share of the call's.
template <class Body>
void for_matrices(const Args& args, std::int64_t count, std::int64_t n,
                  const Body& body) noexcept {
  const int parts = matrix_parts(args, count, n);
  if (parts == 0) {
    return;
  }
  const std::size_t share =
      args.scratch.size() / static_cast<std::size_t>(parts);
  threads::parallel_parts(*args.executor, parts, [&](int part) noexcept {
    const std::int64_t begin = count * part / parts;
    const std::int64_t end = count * (part + 1) / parts;
    for (std::int64_t i = begin; i < end; ++i) {
      body(i, args.scratch.data() + share * static_cast<std::size_t>(part));
    }
  });
}

template <class T>
void fill_nan(T* to, std::int64_t count) noexcept {
  std::fill(to, to + count, std::numeric_limits<T>::quiet_NaN());
}

}  // namespace neap::kernels
