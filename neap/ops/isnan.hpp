// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// true where x is not a number; f32, f64 to bool. THROWS: DTypeError.
NEAP_API Tensor isnan(const Operand& x);

}  // namespace neap
