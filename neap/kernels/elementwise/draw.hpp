// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// draw: element i is computed by drawn.hpp from the draw's words for i, the
// logical row-major index. No inputs; the key operand is out[0]. Uniform and
// normal in f32 and f64; integers in i32 and i64. A permutation (rank 1, i32 or
// i64) is computed as a whole, by one thread.
//   out[0] y  (...)  any strides
#pragma once

#include <array>

#include "neap/base/philox.hpp"
#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

enum class Draw : std::int32_t { kUniform, kNormal, kInteger, kPermutation };

struct DrawAttrs {
  base::DrawKey key;
  std::int64_t low = 0;  // the range [low, high) of integers
  std::int64_t high = 1;
  Draw draw = Draw::kUniform;
  std::int32_t padding = 0;
};

extern const KernelList draw_kernels;

}  // namespace neap::kernels
