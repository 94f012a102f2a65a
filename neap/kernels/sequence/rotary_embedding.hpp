// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// rotary_embedding: pair j of row i turned by the angle p_i base^(-2 j / d),
// p_i the row's position. f32, f64.
//   in[0]  x          (..., T, D)  any strides, D even
//   in[1]  positions  (T)          i64, any stride; or left out: first + i
//   out[0] y          (..., T, D)  any strides, may be x
// Pair j is (x[j], x[D / 2 + j]), or where `interleaved` (x[2 j], x[2 j + 1]).
// Angles, sines and cosines are computed in f64 and rounded once.
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

struct RotaryAttrs {
  double base = 10000.0;  // above 0
  std::int64_t first = 0;
  bool interleaved = false;
  bool inverse = false;  // turns back
  std::array<bool, 6> padding{};
};

extern const KernelList rotary_embedding_kernels;

}  // namespace neap::kernels
