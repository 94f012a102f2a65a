// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Room for external bytes (the stack of a thread that is to start): they count
// against the budget, but nobody asks a domain for them.
#pragma once

#include "neap/memory/context.hpp"

namespace neap::memory {

/// Returns where `bytes` more of external memory stay within the budget; idle
/// pages are given back first, if they must. It is a look: nothing is kept
/// free for the caller. THROWS: OutOfMemory, with `tag`.
NEAP_API void expect_external_room(Bytes bytes, const Tag& tag,
                                   Domain& domain = memory::domain());

}  // namespace neap::memory
