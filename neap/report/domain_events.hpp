// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A domain at one instant: its log, its ledger and its sums, which other
// threads must not change in between.
#pragma once

#include "neap/memory/domain.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

struct DomainEvents {
  memory::Vector<memory::Event> events;  // oldest first
  memory::Vector<memory::Row> rows;      // live then
  memory::Stats stats;

  /// Whether something happened in the domain before the first of them.
  bool has_before() const noexcept {
    return !events.empty() && events.front().time != 0;
  }
};

/// Where other threads never pause for long enough, the three are of instants
/// that follow one another. THROWS: OutOfMemory of the reports' domain;
/// ValueError for that domain itself.
DomainEvents events_of(const memory::Domain& domain);

/// Sentences, the latest 64: who asked for how much, where, what was live, and
/// what would have been enough. THROWS: OutOfMemory of the current domain.
memory::Vector<memory::String> refusals_in(const memory::Domain& domain,
                                           const DomainEvents& log);

}  // namespace neap::report
