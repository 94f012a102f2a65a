// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CallSite: the line of the user's program that asked for something. It is
// captured by default arguments (no std::source_location: clang 14 lacks it
// with this standard library) and interned to 32 bits in a fixed process-wide
// table, so that every block and node can afford to carry one.
#pragma once

#include <string>

#include "neap/base/api.hpp"
#include "neap/base/strong_id.hpp"

namespace neap::base {

using SiteId = StrongId<struct SiteTag>;  // 0: unknown

struct CallSite {
  const char* file = "";      // static storage duration
  const char* function = "";  // static storage duration
  int line = 0;

  static constexpr CallSite here(const char* file = __builtin_FILE(),
                                 const char* function = __builtin_FUNCTION(),
                                 int line = __builtin_LINE()) noexcept {
    return {file, function, line};
  }
};

/// The table's bound: a program with more call sites than this sees the later
/// ones as "unknown" (id 0). Nothing is allocated.
inline constexpr int kMaxCallSites = 8192;

/// Lock-free for a site seen before. Never throws.
NEAP_API SiteId intern(const CallSite& site) noexcept;

NEAP_API CallSite site_of(SiteId id) noexcept;

/// The number of interned sites, of kMaxCallSites.
NEAP_API int interned_sites() noexcept;

/// "train.cpp:41 (step)"; "unknown" for id 0.
NEAP_API std::string format_site(SiteId id);

}  // namespace neap::base

namespace neap {
using base::CallSite;
}
