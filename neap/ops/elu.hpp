// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kElu;
}  // namespace ops

/// x where x > 0, else alpha (e^x - 1) (Clevert et al., ICLR 2016); f32, f64.
/// The derivative at 0 is alpha. Keeps the result for it.
/// THROWS: ValueError unless alpha >= 0.
NEAP_API Tensor elu(const Operand& x, double alpha = 1.0);

}  // namespace neap
