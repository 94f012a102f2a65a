// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// The mean over some axes, or over all; f32, f64. As sum(x, axes, keepdim);
/// the mean of nothing is NaN.
NEAP_API Tensor mean(const Operand& x);
NEAP_API Tensor mean(const Operand& x, const Shape& axes, bool keepdim = false);

}  // namespace neap
