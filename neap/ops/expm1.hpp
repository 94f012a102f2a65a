// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kExpm1;
}  // namespace ops

/// e^x - 1, exact near 0 too; f32, f64.
NEAP_API Tensor expm1(const Operand& x);

}  // namespace neap
