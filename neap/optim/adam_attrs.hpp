// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The attributes of Adam's kernel. Used in this room alone.
#pragma once

#include <cmath>
#include <cstdint>

#include "neap/kernels/engine/attrs.hpp"

namespace neap::optim {

/// With the corrections of both moments at a step, counted from 1 (Kingma and
/// Ba, arXiv 1412.6980).
inline kernels::AdamAttrs corrected(kernels::AdamAttrs attrs,
                                    std::int64_t step) noexcept {
  const auto t = static_cast<double>(step);
  attrs.bias_correction1 = 1.0 - std::pow(attrs.beta1, t);
  attrs.bias_correction2 = 1.0 - std::pow(attrs.beta2, t);
  return attrs;
}

}  // namespace neap::optim
