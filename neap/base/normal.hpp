// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <numbers>

#include "neap/base/philox.hpp"

namespace neap::base {

/// Normal, mean 0 and variance 1 (Box and Muller, 1958).
inline double normal_f64(const PhiloxBlock& words) {
  // 1 - u lies in (0, 1], so the logarithm is finite.
  const double u = 1.0 - uniform_f64(words[0], words[1]);
  const double v = uniform_f64(words[2], words[3]);
  return std::sqrt(-2.0 * std::log(u)) * std::cos(2.0 * std::numbers::pi * v);
}

}  // namespace neap::base
