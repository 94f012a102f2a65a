// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// adafactor: one step in place, AdafactorAttrs. Shazeer and Stern, "Adafactor:
// Adaptive learning rates with sublinear memory cost" (2018), by the formulas
// of torch.optim.Adafactor. f32, f64.
//   in[0]  grad   (..., R, C)  any strides
//   out[0] param  (..., R, C)  any strides, read and written
//   out[1] row    (..., R, 1)  dense, read and written, zeros before step 1
//   out[2] col    (..., 1, C)  likewise
// A parameter of rank 0 or 1 has out[1] alone, of its own shape.
// g = +-grad_scale grad                             (minus with maximize)
// alpha = rho max(eps2, rms(param)); param *= 1 - lr weight_decay
// row += fresh (mean of g g along C - row);  col += fresh (mean along R - col)
// v = row col / max(mean of row, eps1)     of rank 0 and 1: v += fresh (g g -
// v) u = g / sqrt(max(v, eps1^2));  param -= alpha u / max(1, rms(u) / clip)
// Means and squares are added up in double, in plain index order of rows and
// columns; threads divide these, never one sum.
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

struct AdafactorAttrs {
  double lr = 0.0;
  double rho = 0.0;    // min(lr, 1 / sqrt(t)), t counted from 1
  double fresh = 1.0;  // weight of the new squares, t^decay
  double eps1 = 0.0;   // 0: the dtype's epsilon
  double eps2 = 1e-3;
  double clip = 1.0;
  double weight_decay = 0.0;
  double grad_scale = 1.0;
  bool maximize = false;
  std::array<bool, 7> padding{};
};

extern const KernelList adafactor_kernels;

}  // namespace neap::kernels
