// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Factorisations of one dense matrix of a few hundred rows, in vector code, in
// place. Every element takes its products in the order of the textbook's outer
// loop, however the work is blocked for the cache, and each multiplication and
// subtraction is fused.
#pragma once

#include <cstdint>

namespace neap::kernels {

/// A triangle of (n, n): element (i, j) is data[i row_stride + j
/// column_stride]. Negative strides make an upper one of a lower one.
template <class T>
struct Triangle {
  const T* data;
  std::int64_t n;
  std::int64_t row_stride;
  std::int64_t column_stride;
  bool has_ones;  // on the diagonal, whatever stands there
};

/// A matrix to apply a triangle to: rows of `count` elements, `stride` apart.
template <class T>
struct Columns {
  T* data;
  std::int64_t count;
  std::int64_t stride;
};

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
  /// x = L^-1 x for a lower triangle L.
  void (*lower)(const Triangle<T>& l, const Columns<T>& x);
};

/// For T of float and double.
template <class T>
MatrixFunctions<T> matrix_functions() noexcept;

template <>
MatrixFunctions<float> matrix_functions<float>() noexcept;
template <>
MatrixFunctions<double> matrix_functions<double>() noexcept;

/// x = A^-1 x for a triangle of either kind.
template <class T>
void solve_triangle(const MatrixFunctions<T>& functions, Triangle<T> a,
                    bool is_upper, Columns<T> x) noexcept {
  if (is_upper && a.n > 0) {
    // Walks from the last row to the first.
    a.data += (a.n - 1) * (a.row_stride + a.column_stride);
    x.data += (a.n - 1) * x.stride;
    a.row_stride = -a.row_stride;
    a.column_stride = -a.column_stride;
    x.stride = -x.stride;
  }
  functions.lower(a, x);
}

}  // namespace neap::kernels
