// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kExp;
}  // namespace ops

/// e^x; f32, f64.
NEAP_API Tensor exp(const Operand& x);

}  // namespace neap
