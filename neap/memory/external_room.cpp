// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/external_room.hpp"

#include "neap/memory/refusal.hpp"
#include "neap/memory/scope_listener.hpp"

namespace neap::memory {

void expect_external_room(Bytes bytes, const Tag& tag, Domain& domain) {
  const HearScopes unheard(nullptr);
  const auto is_over = [&](const Stats& stats) {
    const Bytes used = stats.held + stats.external;
    return stats.budget != kUnlimited &&
           (used > stats.budget || bytes > stats.budget - used);
  };
  if (!is_over(domain.stats())) {
    return;
  }
  domain.trim();
  if (is_over(domain.stats())) {
    refuse(domain, OutOfMemory::Reason::kBudget, tag, bytes);
  }
}

}  // namespace neap::memory
