// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/external_room.hpp"

#include "neap/memory/owner_book.hpp"

namespace neap::memory {

void expect_external_room(Bytes bytes, const Tag& tag, Domain& domain) {
  const auto is_over = [&](const Stats& stats) {
    return stats.budget != kUnlimited &&
           stats.held + stats.external > stats.budget - bytes;
  };
  if (!is_over(domain.stats())) {
    return;
  }
  domain.trim();
  const Stats stats = domain.stats();
  if (!is_over(stats)) {
    return;
  }
  OutOfMemory::Details details;
  details.reason = OutOfMemory::Reason::kBudget;
  details.tag = tag;
  copy_path(domain.path_of(tag.owner), details.owner);
  details.requested = bytes;
  details.live = stats.live;
  details.held = stats.held;
  details.external = stats.external;
  details.peak = stats.peak;
  details.budget = stats.budget;
  throw OutOfMemory(details);
}

}  // namespace neap::memory
