// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Diagonals of matrices, and matrices from diagonals.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace kernels {
struct DiagonalAttrs;
}  // namespace kernels

namespace ops {
NEAP_API extern const graph::Op kDiagonal;
NEAP_API extern const graph::Op kDiagonalPut;
}  // namespace ops

/// A view of a diagonal of two axes, which are removed; it becomes the last
/// axis. An offset above 0 is so far to the right, below 0 so far down; one
/// beyond the matrix has no elements.
/// THROWS: ShapeError for bad axes, or the same twice.
NEAP_API Tensor diagonal(const TensorOperand& x, std::int64_t offset = 0,
                         std::int64_t axis1 = 0, std::int64_t axis2 = 1);

/// The diagonal of a matrix, a view; or the square matrix that has a vector as
/// its diagonal. THROWS: ShapeError for other ranks.
NEAP_API Tensor diag(const TensorOperand& x, std::int64_t offset = 0);

namespace ops {

/// Zeros, with g (.., n) on the diagonal that `attrs` names: the cotangent of
/// diagonal.
NEAP_API Tensor diagonal_put(const Operand& g,
                             const kernels::DiagonalAttrs& attrs);

}  // namespace ops

}  // namespace neap
