// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace neap::base {

/// a / b, rounded up. REQUIRES: a >= 0, b > 0, and a + b fits.
constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) noexcept {
  return (a + b - 1) / b;
}

}  // namespace neap::base
