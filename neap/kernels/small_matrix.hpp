// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Factorisations of one dense matrix of a few hundred rows, in vector code, in
// place. Every element takes its products in the order of the textbook's outer
// loop, however the work is blocked for the cache, and each multiplication and
// subtraction is fused.
#pragma once

#include <cstdint>

namespace neap::kernels {

/// Kernels for one instruction set. Matrices are row-major; n >= 0.
template <class T>
struct MatrixFunctions {
  /// PA = LU with partial pivoting, the first of equals: `a` (n, n) becomes U
  /// and, below the diagonal, L without its ones; row i of PA is row `rows[i]`
  /// of A. False, with `a` in any state, where a pivot is 0 or NaN.
  bool (*lu)(std::int64_t n, T* a, std::int32_t* rows);
  /// a = U^T U from the symmetric `a` (n, n), whose upper triangle becomes U;
  /// below is left anything. False where a pivot is not positive.
  bool (*cholesky)(std::int64_t n, T* a);
  /// x = L^-1 x for the lower triangle L of a matrix whose element (i, j) is
  /// a[i row_stride + j column_stride] and x (n, columns) with rows x_stride
  /// apart. The diagonal is taken for ones where `unit`. Negative strides make
  /// it an upper triangle's solution.
  void (*lower)(std::int64_t n, std::int64_t columns, const T* a,
                std::int64_t row_stride, std::int64_t column_stride, bool unit,
                T* x, std::int64_t x_stride);
};

/// For T of float and double.
template <class T>
MatrixFunctions<T> matrix_functions() noexcept;

template <>
MatrixFunctions<float> matrix_functions<float>() noexcept;
template <>
MatrixFunctions<double> matrix_functions<double>() noexcept;

/// x = op(A)^-1 x, where op(A) is a triangle of A or of its transpose.
template <class T>
void solve_triangle(const MatrixFunctions<T>& functions, std::int64_t n,
                    std::int64_t columns, const T* a, std::int64_t row_stride,
                    std::int64_t column_stride, bool upper, bool unit, T* x,
                    std::int64_t x_stride) noexcept {
  if (upper && n > 0) {
    // From the last row to the first.
    a += (n - 1) * (row_stride + column_stride);
    x += (n - 1) * x_stride;
    row_stride = -row_stride;
    column_stride = -column_stride;
    x_stride = -x_stride;
  }
  functions.lower(n, columns, a, row_stride, column_stride, unit, x, x_stride);
}

}  // namespace neap::kernels
