// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kAmax;
NEAP_API extern const graph::Op kAmin;

/// Over the axes of a mask (bit i: axis i); they stay, with extent 1.
NEAP_API Tensor amax_axes(const Operand& x, std::uint64_t axes);
NEAP_API Tensor amin_axes(const Operand& x, std::uint64_t axes);
}  // namespace ops

/// The largest, or the smallest, element over some axes, or over all; f32,
/// f64, i32, i64, u8, bool (of no element false, or true). NaN where there is
/// one. Equal ones share the derivative equally. THROWS: ShapeError for a bad
/// axis; ValueError where there is no element.
NEAP_API Tensor amax(const Operand& x);
NEAP_API Tensor amax(const Operand& x, const Shape& axes, bool keepdim = false);
NEAP_API Tensor amin(const Operand& x);
NEAP_API Tensor amin(const Operand& x, const Shape& axes, bool keepdim = false);

}  // namespace neap
