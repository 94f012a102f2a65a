// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A product with one row or one column of C, seen alike. For gemv.cpp.
#pragma once

#include <cstdint>

#include "neap/kernels/gemm/gemm.hpp"

namespace neap::kernels {

/// c[i] = start[i] + sum over k of matrix[i c_step + k k_step] x[k x_stride].
/// One of the steps is 1; strides are in elements.
template <class T>
struct GemvProblem {
  const T* matrix = nullptr;
  std::int64_t c_step = 0;
  std::int64_t k_step = 0;
  const T* x = nullptr;
  std::int64_t x_stride = 0;
  std::int64_t count = 0;  // elements of c
  std::int64_t k = 0;
  T* c = nullptr;
  GemmStart start = GemmStart::kZero;
  const T* bias = nullptr;
  std::int64_t bias_stride = 0;
  bool ends_in_relu = false;
};

}  // namespace neap::kernels
