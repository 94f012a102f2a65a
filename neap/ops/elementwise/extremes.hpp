// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The larger and the smaller of two, and bounds. All work element by element.
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/engine/attrs.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kMaximum;
NEAP_API extern const graph::Op kMinimum;
NEAP_API extern const graph::Op kClip;
NEAP_API extern const graph::Op kClipGrad;
}  // namespace ops

/// The larger, or the smaller, of a and b, broadcast; f32, f64, i32, i64. NaN
/// where either is, and then both get the derivative. Where they are equal each
/// gets half of it (as in PyTorch). THROWS: ShapeError when shapes do not
/// broadcast, DTypeError when dtypes differ or lack a number that is given,
/// which takes the tensor's dtype.
NEAP_API Tensor maximum(const Operand& a, const Operand& b);
NEAP_API Tensor minimum(const Operand& a, const Operand& b);

/// x, no less than low and no more than high (high wins where they cross); f32,
/// f64, i32, i64. NaN stays. The derivative is 1 between the bounds, and 0 at
/// them, outside and at NaN (as in PyTorch from 2.14 on); an infinite bound is
/// none. Where a bound is a tensor, both are broadcast: a bound has the
/// derivative of the elements that it moved, and x that of the others, also of
/// those that are equal to a bound, and of NaN; where it is NaN, so is y.
/// THROWS: ShapeError, DTypeError; ValueError for a number that is NaN.
NEAP_API Tensor clip(const Operand& x, const Operand& low, const Operand& high);
/// With one bound.
NEAP_API Tensor clip_min(const TensorOperand& x, Number low);
NEAP_API Tensor clip_max(const TensorOperand& x, Number high);

namespace ops {
/// The cotangent of clip, from its input x: g strictly between the bounds, else
/// 0; of one shape. f32, f64.
NEAP_API Tensor clip_grad(const Operand& g, const Operand& x,
                          const kernels::ClipAttrs& bounds);
}  // namespace ops

}  // namespace neap
