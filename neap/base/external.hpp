// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// External memory: an upper bound on what the process and third parties have
// resident outside of domains. The process's own part is worked out once, at
// start-up, so that it comes out the same in every start of a program:
//
//   modules    all code, constants and variables of the program and its
//              libraries, resident or not: what is paged in later is in it
//   own        the main stack and the C library's heap: an allowance, or more
//              where the program has more already
//
// Parts added later (a pool's stacks, a plug-in's code) are declared by who
// causes them. A fixed table: nothing is allocated.
#pragma once

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"
#include "neap/base/call_site.hpp"

namespace neap::base {

/// Adds (or, negative, takes back) bytes under a static name such as
/// "thread stacks".
NEAP_API void add_external(const char* name, Bytes bytes) noexcept;

/// The main stack and the C library's heap may come to 2 MiB. A program that
/// has more than five eighths of it resident at start-up is given 3/4 of a MiB
/// on top of what it has, rounded up to whole MiB.
inline constexpr Bytes kExternalAllowance = 2 * kMiB;

/// Modules, and the allowance or more, as worked out at the first call, which
/// comes before the first allocation at a door. Where the system does not say
/// what is resident (no /proc), it is taken to be within the allowance.
NEAP_API Bytes external_at_start() noexcept;

/// Works the process's own part out again, after libraries were loaded or
/// memory was taken past domains: it becomes what it is now, but never less
/// than it was at the first call. `held`: what domains hold, which is resident
/// too and no part of it; where pages of that were never touched, so much is
/// found too little. RETURNS: the part as it counts from now on.
NEAP_API Bytes recount_external(Bytes held) noexcept;

/// Code, constants and variables of the program and of the libraries that are
/// loaded now, in whole pages, resident or not.
NEAP_API Bytes module_bytes() noexcept;

/// external_at_start() plus all that was added. A step that is traced is
/// refused where it asks for this, or for the rows.
NEAP_API Bytes external_bytes(const CallSite& site = CallSite::here()) noexcept;
/// The same for the library, which is no question of a step's.
NEAP_API Bytes count_external() noexcept;

struct ExternalRow {
  const char* name;
  Bytes bytes;
};

inline constexpr int kMaxExternalRows = 16;

/// Fills `rows` (capacity kMaxExternalRows) and returns how many there are.
NEAP_API int external_rows(ExternalRow* rows,
                           const CallSite& site = CallSite::here()) noexcept;

}  // namespace neap::base
