// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A product with one row or one column of C, or a few rows, seen alike. For
// gemv.cpp.
#pragma once

#include <cstdint>

#include "neap/kernels/gemm/gemm.hpp"

namespace neap::kernels {

/// c[v count + i] = start + sum over k of matrix[i c_step + k k_step]
/// x[v x_step + k x_stride], for each of the vectors v. One of c_step and
/// k_step is 1, k_step where there are several vectors; strides are in
/// elements. `Matrix`: T, or BFloat16 of float.
template <class T, class Matrix = T>
struct GemvProblem {
  const Matrix* matrix = nullptr;
  std::int64_t c_step = 0;
  std::int64_t k_step = 0;
  const T* x = nullptr;
  std::int64_t x_stride = 0;
  std::int64_t x_step = 0;  // between vectors
  std::int64_t vectors = 1;
  std::int64_t count = 0;  // elements of c
  std::int64_t k = 0;
  T* c = nullptr;
  GemmStart start = GemmStart::kZero;
  const T* bias = nullptr;
  std::int64_t bias_stride = 0;
  bool ends_in_relu = false;
};

/// Whether the matrix is so large that it comes from memory.
template <class T, class Matrix>
bool is_far(const GemvProblem<T, Matrix>& p) noexcept {
  constexpr std::int64_t kFarBytes = 1 << 20;
  return p.count * p.k * static_cast<std::int64_t>(sizeof(Matrix)) >= kFarBytes;
}

}  // namespace neap::kernels
