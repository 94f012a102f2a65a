// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// Mean over samples of -log_probabilities[label]: (N, C) f32 or f64, labels
/// (N) i64. For logits, cross_entropy() takes less memory.
/// THROWS: as cross_entropy.
NEAP_API Tensor nll_loss(const Operand& log_probabilities,
                         const Operand& labels);

/// Mean over all elements of (prediction - target)^2, broadcast; f32, f64.
NEAP_API Tensor mse_loss(const Operand& prediction, const Operand& target);

}  // namespace neap
