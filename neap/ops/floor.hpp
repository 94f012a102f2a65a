// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kFloor;
}  // namespace ops

/// The largest whole number that is no more; f32, f64. Its derivative is 0.
NEAP_API Tensor floor(const Operand& x);

}  // namespace neap
