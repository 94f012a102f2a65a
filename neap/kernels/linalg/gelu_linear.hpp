// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// gelu_linear: y = gelu(x) w^T + b, with the bits of gelu.hpp and linear.hpp
// one after the other. f32, f64.
//   in[0]  x  (rows, in)   any strides
//   in[1]  w  (out, in)    any strides
//   in[2]  b  (out)        any stride; may be absent
//   out[0] y  (rows, out)  dense row-major
// Rows go by in blocks, whose gelu stays in the scratch.
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/engine/precision.hpp"

namespace neap::kernels {

struct GeluLinearAttrs {
  bool by_tanh = false;
  Precision precision = Precision::kF32;  // of the product
  std::array<bool, 6> padding{};
};

extern const KernelList gelu_linear_kernels;

}  // namespace neap::kernels
