// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The snapshot of a compiled step, from its program and its plan alone: it may
// be taken before anything runs.
//
//   report::Snapshot s = report::snapshot(step);
//   report::write_page(files::system_door(), "step.html", s).value();
#pragma once

#include "neap/compile/plan.hpp"
#include "neap/memory/domain.hpp"
#include "neap/report/snapshot.hpp"

namespace neap::report {

/// Every call with its work, every value in the arena, and what stays. Without
/// `domain` the sums are those of the step alone, as compiler::predict() gives
/// them, and the same program and plan give the same snapshot. With it they are
/// those of all that the domain holds at this instant (its arena, where it has
/// none yet, as it will be): what is not the step's is a row of what stays. An
/// arena in memory that the caller lends (CompileOptions::memory) is part of
/// what is reserved, and Sums::lent of that: the rest is what the domain holds.
///
/// `there`: bytes of the step's arenas, as its arena_bytes() says; -1: not
/// known. Where another step of the domain has an arena, and this one does not
/// yet, the domain alone cannot tell.
///
/// A value whose pages do not lie together is several blocks, each with the
/// number of the value. All memory is the reports' domain's: looking changes
/// nothing. THROWS: ValueError for another domain than the step's; OutOfMemory
/// of the reports' domain.
NEAP_API Snapshot snapshot(const compiler::Program& program,
                           const compiler::Plan& plan,
                           const memory::Domain* domain = nullptr,
                           Bytes there = -1);

/// The snapshot of a compiled step or a trainer. THROWS: ValueError where
/// nothing was traced yet; OutOfMemory.
template <class Step>
Snapshot snapshot(const Step& step, const memory::Domain* domain = nullptr) {
  return snapshot(step.program(), step.plan(), domain, step.arena_bytes());
}

}  // namespace neap::report
