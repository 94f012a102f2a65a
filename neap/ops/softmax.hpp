// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// exp(x) / sum(exp(x)) along an axis; f32, f64. As log_softmax.
NEAP_API Tensor softmax(const Operand& x, std::int64_t axis = -1);

}  // namespace neap
