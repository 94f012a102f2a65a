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

/// The most that was live in a domain from one look to the next, by its log of
/// events: its own peaks stay as they are.
class LivePeak {
 public:
  /// LIFETIME: the domain outlives this. Begins with what happens from now on.
  explicit LivePeak(const memory::Domain& domain);

  /// Since the last look; -1: the log does not reach so far back. Copies the
  /// events since then. THROWS: OutOfMemory of the reports' domain; nothing is
  /// looked at then.
  Bytes next();
  /// The refusals that were met on the way, the latest 64.
  const memory::Vector<memory::Event>& refusals() const noexcept {
    return refusals_;
  }

 private:
  void note_refusal(const memory::Event& event);

  const memory::Domain* domain_;
  std::uint64_t next_time_ = 0;  // of the first event that was not looked at
  std::int64_t requests_ = 0;    // allocations and releases until then
  Bytes live_ = 0;               // then
  memory::Vector<memory::Event> events_;
  memory::Vector<memory::Event> refusals_;
};

/// A sentence: who asked for how much, where, what was live, and what would
/// have been enough. THROWS: OutOfMemory of the current domain.
memory::String refusal_text(const memory::Domain& domain,
                            const memory::Event& event);
/// The sentences of a log, the latest 64. THROWS: as above.
memory::Vector<memory::String> refusals_in(const memory::Domain& domain,
                                           const DomainEvents& log);

}  // namespace neap::report
