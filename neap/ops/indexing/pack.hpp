// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The elements that a mask names, and the inverse.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kPack;
NEAP_API extern const graph::Op kUnpack;
/// pack of `count` elements, which is how many of the mask are true; x and mask
/// have one shape.
Tensor pack_checked(const Operand& x, const Operand& mask, std::int64_t count);

/// How many elements of a mask in host memory are true: data that a shape
/// depends on. THROWS: DTypeError unless bool; DeviceError.
/// TraceError while a step is traced.
std::int64_t count_of_mask(const char* op, const Tensor& mask);

/// THROWS: DTypeError unless bool; DeviceError; ValueError, in every run of a
/// traced step, unless `have` elements of the mask are true.
void check_mask_count(const char* op, const Tensor& mask, std::int64_t have);
}  // namespace ops

/// The elements of x where the mask (bool) is true, in row-major order, as one
/// axis (PyTorch's masked_select). x and mask broadcast.
/// THROWS: ShapeError; DTypeError; DeviceError unless the mask, whose count is
/// the shape of the result, is in host memory; TraceError in a step that is
/// traced.
NEAP_API Tensor pack(const Operand& x, const Operand& mask);

namespace ops {
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
