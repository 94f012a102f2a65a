// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The parts that the recurrent ops (lstm, gru, rnn) share. Each is one
// primitive for a layer in one direction over a whole sequence, time-major,
// with a fused primitive for its gradient. That one has no rules of its own:
// where a derivative is itself differentiated, the rule is written in plain
// ops, step by step, and every order follows from theirs. A cell is a sequence
// of one step.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// The parameters of a recurrent layer: w_ih (gates h, features), w_hh (gates
/// h, h), and two biases (gates h), both or none of them. The order of the
/// gates is PyTorch's.
struct RecurrentWeights {
  Tensor w_ih;
  Tensor w_hh;
  Tensor b_ih{};
  Tensor b_hh{};
};

/// h of every step, (T, b, h), and of the last step computed, (b, h).
struct RecurrentResult {
  Tensor output;
  Tensor h;
};

}  // namespace neap
