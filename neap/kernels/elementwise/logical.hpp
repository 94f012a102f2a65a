// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// logical_and, logical_or, logical_xor of two truth values. No attributes.
// bool.
//   in[0]  a  (...)  any strides
//   in[1]  b  (...)  any strides, dtype of a
//   out[0] y  (...)  any strides, may be a or b where shaped as y
// a and b broadcast to y by NumPy's rule.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList logical_and_kernels;
extern const KernelList logical_or_kernels;
extern const KernelList logical_xor_kernels;

}  // namespace neap::kernels
