// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// The density of the normal distribution, e^(-z^2 / 2) / (d sqrt(2 pi)) with
/// z = (x - mean) / d and d = deviation; f32, f64. Mean and deviation are
/// numbers or tensors, broadcast, with derivatives of their own.
/// THROWS: ValueError for a deviation that is a number and not above 0 (of a
/// tensor it is not checked: NaN or a negative density comes out);
/// ShapeError, DTypeError.
NEAP_API Tensor normal_pdf(const Operand& x, const Operand& mean = 0.0,
                           const Operand& deviation = 1.0);

}  // namespace neap
