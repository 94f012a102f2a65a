// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Refusals that do not come from a domain itself, in its form. For sources of
// this room only.
#pragma once

#include "neap/memory/domain.hpp"
#include "neap/memory/owner_book.hpp"
#include "neap/memory/scope_listener.hpp"

namespace neap::memory {

/// THROWS: OutOfMemory, with the domain's figures of now.
[[noreturn]] inline void refuse(const Domain& domain,
                                OutOfMemory::Reason reason, const Tag& tag,
                                Bytes requested) {
  const HearScopes unheard(nullptr);
  const Stats stats = domain.stats();
  OutOfMemory::Details details;
  details.reason = reason;
  details.tag = tag;
  copy_path(domain.path_of(tag.owner), details.owner);
  details.requested = requested;
  details.live = stats.live;
  details.held = stats.held;
  details.external = stats.external;
  details.peak = stats.peak;
  details.budget = stats.budget;
  throw OutOfMemory(details);
}

}  // namespace neap::memory
