// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Debug modes that find writes out of bounds and reads of freed memory. All
// give the same results, more slowly.
#pragma once

#include <cstdint>

#include "neap/memory/domain.hpp"

namespace neap::compiler {

struct Debug {
  bool poison = false;    // ended values are filled with NaNs at once
  bool guards = false;    // bands around every buffer, checked after each call
  bool no_reuse = false;  // every value has a range of its own
  bool scatter = false;   // with .paged: always pages, and in no order
  /// States and weights that may be in the spill file are, whatever that costs
  /// and whether or not memory is limited.
  enum class Away : std::uint8_t { kByPrice, kEarly, kTight };
  Away away = Away::kByPrice;
};

/// Bytes of a guard band, on either side of a buffer.
inline constexpr Bytes kBand = memory::kAlignment;

}  // namespace neap::compiler
