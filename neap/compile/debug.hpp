// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ways to find who writes where it must not, or reads what is gone. All give
// the same results, more slowly.
#pragma once

#include "neap/memory/domain.hpp"

namespace neap::compiler {

struct Debug {
  bool poison = false;  // what ended is filled with NaNs at once
  bool guards = false;  // bands around every buffer, looked at after each call
  bool no_reuse = false;  // every value has a place of its own
  bool scatter = false;   // with .paged: always pages, and in no order
};

/// Bytes of a guard band, on either side of a buffer.
inline constexpr Bytes kBand = memory::kAlignment;

}  // namespace neap::compiler
