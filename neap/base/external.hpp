// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// External memory: what the process and third parties hold behind the door
// (code and libraries, the main stack, thread stacks). The process's own part
// is read once, at start-up; parts added later (a pool's stacks) are declared
// by who causes them. A fixed table: nothing is allocated.
#pragma once

#include "neap/base/api.hpp"
#include "neap/base/bytes.hpp"

namespace neap::base {

/// Adds (or, negative, takes back) bytes under a static name such as
/// "thread stacks".
NEAP_API void add_external(const char* name, Bytes bytes) noexcept;

/// The resident set found at start-up, before the first allocation at a door;
/// 0 where the system does not tell.
NEAP_API Bytes external_at_start() noexcept;

/// external_at_start() plus all that was added.
NEAP_API Bytes external_bytes() noexcept;

struct ExternalRow {
  const char* name;
  Bytes bytes;
};

inline constexpr int kMaxExternalRows = 16;

/// Fills `rows` (capacity kMaxExternalRows) and returns how many there are.
NEAP_API int external_rows(ExternalRow* rows) noexcept;

}  // namespace neap::base
