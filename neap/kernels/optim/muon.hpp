// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// muon: one step in place, MuonAttrs. Jordan et al., "Muon: An optimizer for
// hidden layers in neural networks" (2024), by the formulas of torch.optim.Muon
// but for the dtype of the products, which is the parameter's. f32, f64.
//   in[0]  grad   (R, ...)  any strides; taken as a matrix of R rows
//   out[0] param  (R, ...)  any strides, read and written
//   out[1] m      (R, ...)  momentum, read and written, zeros before step 1
// g = grad_scale grad;  m += (1 - momentum) (g - m)
// x = g + momentum (m - g), or m; x = x / max(|x|, eps), the short side first
// steps times: s = x x^T, x = a x + (b s + c s s) x     (Newton-Schulz,
// quintic) param = (1 - lr weight_decay) param - lr adjusted x
#pragma once

#include <array>

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

/// The factor of the rate of a matrix of R rows and C columns.
enum class MuonRate : std::int32_t {
  kOriginal,  // sqrt(max(1, R / C))
  kAdamW,     // 0.2 sqrt(max(R, C)): steps as large as AdamW's
  kNone,      // 1
};

struct MuonAttrs {
  double lr = 0.0;
  double momentum = 0.95;
  double weight_decay = 0.0;
  double eps = 1e-7;
  double a = 3.4445;
  double b = -4.7750;
  double c = 2.0315;
  double grad_scale = 1.0;
  std::int32_t steps = 5;
  MuonRate rate = MuonRate::kOriginal;
  bool nesterov = true;
  std::array<bool, 7> padding{};
};

extern const KernelList muon_kernels;

}  // namespace neap::kernels
