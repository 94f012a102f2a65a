// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Comparisons, one list each. No attributes. All seven dtypes but bf16.
//   in[0]  a  (...)  any strides
//   in[1]  b  (...)  any strides, dtype of a
//   out[0] y  (...)  bool, any strides
// a and b broadcast to y by NumPy's rule. As in IEEE 754, a comparison with NaN
// is false, but for ne, which is true.
#pragma once

#include <cstdint>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

enum class Relation : std::uint8_t { kEq, kNe, kLt, kLe, kGt, kGe };

/// y = a == b
extern const KernelList eq_kernels;

/// y = a != b
extern const KernelList ne_kernels;

/// y = a < b
extern const KernelList lt_kernels;

/// y = a <= b
extern const KernelList le_kernels;

/// y = a > b
extern const KernelList gt_kernels;

/// y = a >= b
extern const KernelList ge_kernels;

}  // namespace neap::kernels
