// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// dropout: y = keep(i) ? x / (1 - p) : 0, with DropoutAttrs. f32, f64.
//   in[0]  x  (...)  any strides, broadcasts to y
//   out[0] y  (...)  any strides, may be x where shaped as y
// i is the logical row-major index in y, counted on from attrs.first; keep(i)
// is uniform_f32(key.word(i)) >= p: a pure function of (key, i), so the
// derivative rule is the same kernel on the cotangent. 0 too where a dropped x
// is NaN.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList dropout_kernels;

}  // namespace neap::kernels
