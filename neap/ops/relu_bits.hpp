// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kReluBits;

/// x > 0 ? x : slope x, and for a slope of 0 relu(x): the form of relu and
/// leaky_relu for calls that are recorded. f32, f64.
NEAP_API Tensor relu_bits(const Operand& x, double slope);

/// Whether an op of x that has derivative rules goes on the tape.
bool will_be_recorded(const Tensor& x);

}  // namespace neap::ops
