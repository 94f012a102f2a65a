// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The loss of a yes or no, element by element. No attributes; f32, f64; any
// strides; outputs may be inputs.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// y = -(t ln x + (1 - t) ln(1 - x)), logarithms no less than -100, from x and
/// t
extern const KernelList binary_cross_entropy_kernels;

/// y = max(z, 0) - z t + ln(1 + e^-|z|), the same of x = sigmoid(z), from z and
/// t
extern const KernelList logits_cross_entropy_kernels;

}  // namespace neap::kernels
