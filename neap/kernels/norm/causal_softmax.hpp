// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// causal_softmax along the last axis of matrices (..., m, n): row i sees
// columns j <= i + diagonal, the others are 0. f32, f64. The order of sums is
// in softmax-inl.hpp, over what a row sees; threads divide rows. m is the
// largest x that a row sees.
//   in[0]  x  (..., m, n)  any strides
//   out[0] y  (..., m, n)  any strides, may be x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

struct CausalAttrs {
  double scale = 1.0;         // above 0
  std::int64_t diagonal = 0;  // a row i sees columns j <= i + diagonal
};

/// y = e^(scale (x - m)) / sum e^(scale (x - m))
extern const KernelList causal_softmax_kernels;

}  // namespace neap::kernels
