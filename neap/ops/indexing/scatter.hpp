// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Elements written, or added, at the positions that an index tensor names, and
// the adjoint of writing them.
#pragma once

#include <utility>

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kScatter;
NEAP_API extern const graph::Op kScatterAdd;
NEAP_API extern const graph::Op kScatterTake;
/// scatter without a check of the indices, which must be in range; src has the
/// index's shape.
Tensor scatter_checked(const Operand& x, int axis, const Operand& index,
                       const Operand& src);
}  // namespace ops

/// x with element [index[i][j]][j] replaced by src[i][j] for axis 0, and so on.
/// The index (i32, i64) has as many axes as x and src and is no longer than
/// they are, but for x along the axis; what src has beyond it is not used. A
/// number stands for itself everywhere. Where an index repeats, the last
/// element in row-major order stays, and it alone has a derivative.
/// THROWS: ShapeError; DTypeError; ValueError for an index outside [0, extent)
/// in host memory.
NEAP_API Tensor scatter(const Operand& x, std::int64_t axis,
                        const Operand& index, const Operand& src);
/// The same in x's own memory; src is a tensor. THROWS: as scatter; GraphError
/// and ShapeError as compute_into. x is then as before.
NEAP_API void scatter_(const Tensor& x, std::int64_t axis, const Tensor& index,
                       const Tensor& src, CallSite site = CallSite::here());

namespace ops {
/// scatter_add without a check of the indices, which must be in range; src has
/// the index's shape.
Tensor scatter_add_checked(const Operand& x, int axis, const Operand& index,
                           const Operand& src);
}  // namespace ops

/// x with src[i][j] added to element [index[i][j]][j] for axis 0, and so on;
/// f32, f64, i32 and i64. The index (i32, i64) has as many axes as x and src
/// and is no longer than they are, but for x along the axis; what src has
/// beyond it is not used. Elements that go to the same place are added in
/// row-major order, one after the other, so that the sum's bits never vary.
/// THROWS: ShapeError; DTypeError; ValueError for an index outside [0, extent)
/// in host memory.
NEAP_API Tensor scatter_add(const Operand& x, std::int64_t axis,
                            const Operand& index, const Operand& src);
/// The same in x's own memory; src is a tensor. THROWS: as scatter_add;
/// GraphError and ShapeError as compute_into. x is then as before.
NEAP_API void scatter_add_(const Tensor& x, std::int64_t axis,
                           const Tensor& index, const Tensor& src,
                           CallSite site = CallSite::here());

namespace ops {

/// The adjoint of scatter, linear in g. RETURNS: g with 0 where the index says
/// that something is written, and the elements of g there: for each index the
/// element, if it is the last in row-major order that names it, else 0. f32,
/// f64. The indices must be in range.
NEAP_API std::pair<Tensor, Tensor> scatter_take(const Operand& g, int axis,
                                                const Operand& index);

}  // namespace ops

}  // namespace neap
