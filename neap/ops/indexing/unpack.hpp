// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kUnpack;

/// unpack of as many values as the mask has true elements.
Tensor unpack_checked(const Operand& values, const Operand& mask,
                      const Operand& fill);
}  // namespace ops

/// The inverse of pack: a tensor of the mask's shape with the elements of
/// `values` (n), one after the other, where the mask (bool) is true, and
/// `fill`, a number or a tensor that broadcasts to the mask's shape, where it
/// is false. THROWS: ValueError unless n elements of the mask are true;
/// ShapeError; DTypeError; DeviceError unless the mask is in host memory.
NEAP_API Tensor unpack(const Operand& values, const Operand& mask,
                       const Operand& fill = 0.0);

}  // namespace neap
