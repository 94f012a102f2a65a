// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// triangle: y = x on one side of a diagonal of the last two axes, else 0. Every
// dtype.
//   in[0]  x  (..., m, n)  any strides
//   out[0] y  (..., m, n)  any strides, may be x
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

struct TrilAttrs {
  std::int64_t diagonal = 0;  // kept, with what is below: column - row <= it
  std::int64_t upper = 0;     // 1: what is above is kept instead
};

extern const KernelList triangle_kernels;

}  // namespace neap::kernels
