// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kPack;

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

}  // namespace neap
