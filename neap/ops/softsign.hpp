// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// x / (1 + |x|); f32, f64. The derivative at 0 is 1.
NEAP_API Tensor softsign(const Operand& x);

}  // namespace neap
