// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The snapshot of a domain, from its log of events: what an eager program took
// and gave back, where that lay, and when.
//
//   const auto domain = memory::Domain::create({.event_capacity = 100'000});
//   ... steps, within memory::UseDomain(*domain) ...
//   report::Snapshot s = report::snapshot(*domain);
//   report::write_page(files::system_door(), "run.html", s).value();
#pragma once

#include "neap/memory/domain.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Every event is a call, and every block that was allocated, or released, in
/// one of them a block. A block that changed hands (retag) is a block for each
/// of them. Where the log begins after the domain did, call 0 is the instant
/// before the first event that is known, and blocks that were there already and
/// went later begin at it, under the first tag that is known of them. What no
/// event tells of is a row of what stays; without a log that is all.
///
///   live bytes at a call  = blocks + stays
///   highest of these      = stats().live_peak, where the log has that instant
///   arena + stays + overhead = reserved = the most that was held
///
/// Offsets are addresses made relative: pages on which blocks lay stand one
/// above the other, in the order of their addresses, without what was between
/// them. Where pages went back to the system meanwhile, that map may be higher
/// than the arena, which is what of it was held at once. Refusals are
/// sentences, the latest 64.
///
/// All memory is the reports' domain's: looking changes nothing. THROWS:
/// OutOfMemory of that domain; ValueError for that domain itself.
NEAP_API Snapshot snapshot(const memory::Domain& domain);

/// The sentences of the refusals that the domain's log has, the latest 64.
/// THROWS: as above.
NEAP_API memory::Vector<memory::String> refusals_of(
    const memory::Domain& domain);

}  // namespace neap::report
