// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// cast: y = x in another dtype. No attributes; the target is the dtype of
// out[0]. All pairs of the seven dtypes, the same one included.
//   in[0]  x  (...)  any strides, broadcasts to y
//   out[0] y  (...)  any strides
// To bool: x != 0 (NaN is true). Float to integer truncates toward zero; what
// is out of range saturates and NaN gives 0. Integer to narrower integer wraps.
// To floats rounds to nearest even; to bf16 by way of f32.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList cast_kernels;

}  // namespace neap::kernels
