// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A matrix times a vector, in the order that gemm.hpp states: a product with
// one row, or with one column, whose elements of C are lanes; or with a few
// rows and a matrix so large that it comes from memory, such as those that a
// model writes text by. The matrix is read once, along its lines, and needs no
// scratch. gemm() calls this by itself.
#pragma once

#include "neap/kernels/gemm/gemm.hpp"

namespace neap::kernels {

/// True where gemv() computes the product: one row or one column of C and a
/// matrix that is dense along k or along C, or 2 to 8 rows of C and a matrix
/// that is dense along k and of 1 MiB at least; f32 precision, no batch, a
/// vector that is not in bf16 (the matrix may be), and an instruction set with
/// vectors that it is written for.
template <class T>
bool is_gemv(const Gemm<T>& product) noexcept;

/// REQUIRES: is_gemv(product).
template <class T>
void gemv(const Gemm<T>& product, threads::Executor& executor) noexcept;

}  // namespace neap::kernels
