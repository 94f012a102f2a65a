// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kGaussian;
}  // namespace ops

/// The bell curve e^(-x^2), not normalised; f32, f64.
NEAP_API Tensor gaussian(const Operand& x);

}  // namespace neap
