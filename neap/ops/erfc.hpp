// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kErfc;
}  // namespace ops

/// Complementary error function, 1 - erf x without cancellation; f32, f64.
NEAP_API Tensor erfc(const Operand& x);

}  // namespace neap
