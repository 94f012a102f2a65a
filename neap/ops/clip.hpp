// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kClip;
}  // namespace ops

/// x, no less than low and no more than high (high wins where they cross); f32,
/// f64, i32, i64. NaN stays. The derivative is 1 between the bounds, and 0 at
/// them, outside and at NaN (as in PyTorch from 2.14 on); an infinite bound is
/// none. Where a bound is a tensor, both are broadcast: a bound has the
/// derivative of the elements that it moved, and x that of the others, also of
/// those that are equal to a bound, and of NaN. THROWS: ShapeError, DTypeError;
/// ValueError for two numbers of which one is NaN.
NEAP_API Tensor clip(const Operand& x, const Operand& low, const Operand& high);
/// With one bound.
NEAP_API Tensor clip_min(const Operand& x, Number low);
NEAP_API Tensor clip_max(const Operand& x, Number high);

}  // namespace neap
