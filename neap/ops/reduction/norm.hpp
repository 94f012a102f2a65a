// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kNorm;
}  // namespace ops

/// The p-norm of the elements along some axes (negative ones count from the
/// end), or of all, as one vector; f32, f64: (sum |x|^p)^(1/p); for p = 0 how
/// many are not zero (with no derivative), for inf the largest |x|, for -inf
/// the smallest. Squares (p = 2) neither overflow nor vanish in f32.
/// Derivatives are 0 where the norm is, for finite p > 0; equal largest
/// elements share them equally. Each axis is removed, or stays with extent 1
/// where keepdim. The norm of nothing is 0 (inf for -inf). THROWS: ValueError
/// where p is NaN; ShapeError for an axis that is out of range or named twice.
NEAP_API Tensor norm(const TensorOperand& x, double p = 2.0);
NEAP_API Tensor norm(const TensorOperand& x, double p, const Shape& axes,
                     bool keepdim = false);

}  // namespace neap
