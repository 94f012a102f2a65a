// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLeakyRelu;
}  // namespace ops

/// x where x > 0, else negative_slope x; f32, f64. The derivative at 0 is
/// negative_slope. Keeps one bit an element for it. A slope of 0 is relu.
NEAP_API Tensor leaky_relu(const Operand& x, double negative_slope = 0.01);

}  // namespace neap
