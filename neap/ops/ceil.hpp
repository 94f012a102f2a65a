// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kCeil;
}  // namespace ops

/// The smallest whole number that is no less; f32, f64. Its derivative is 0.
NEAP_API Tensor ceil(const Operand& x);

}  // namespace neap
