// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Fits a step into a limit of memory: some calls run again, so that their
// values need not be kept (rematerialisation, as in Chen et al., "Training Deep
// Nets with Sublinear Memory Cost", 2016, with the choice left to budget/), and
// where there is a spill file, some values wait in it.
//
// Orders of the calls are candidates, as are fused and single calls; each gets
// a ladder of schedules (budget/ladder.hpp). The program is that of the highest
// rung whose packed arena is within the limit, so that a larger limit never
// costs more time, and the cheapest of all candidates. Heads of large logits
// run in pieces of rows where that helps (head_pieces.hpp).
#pragma once

#include <algorithm>
#include <string>

#include "neap/compile/options.hpp"
#include "neap/compile/plan_file.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

struct ArenaLimit {
  Bytes bytes = kUnlimited;
  /// The limit is what this budget leaves where all states and weights are in
  /// memory; it may be below 0. Those that a program keeps away make it higher.
  Bytes budget = kUnlimited;
  /// No arena is larger, whatever is away.
  Bytes most = kUnlimited;
  /// An arena of so many bytes is there anyway: no program's takes less.
  Bytes there = 0;
  /// The limit is what is left beside a program of so many calls, each with so
  /// many bytes of bookkeeping: beside a shorter one there is more. Calls count
  /// once, whether or not they run again. 0: it is the arena's alone.
  std::size_t calls = 0;
  Bytes bytes_a_call = 0;
  /// A budget of about so much would do for a lower program that was refused;
  /// 0: none was.
  Bytes would_do = 0;

  /// The bytes left for the arena of a program; below 0: they do not suffice.
  Bytes beside(const Program& program) const noexcept {
    return within_bounds(without_bounds(program));
  }
  /// The same of one of so many calls that keeps so many bytes away.
  Bytes beside_calls(std::size_t count, Bytes away) const noexcept {
    return within_bounds(without_bounds(count, away));
  }
  Bytes without_bounds(const Program& program) const noexcept {
    return without_bounds(program.calls.size(), program.away_bytes());
  }
  Bytes without_bounds(std::size_t count, Bytes away) const noexcept {
    const Bytes fewer = static_cast<Bytes>(calls) - static_cast<Bytes>(count);
    return bytes == kUnlimited ? bytes : bytes + away + bytes_a_call * fewer;
  }

 private:
  Bytes within_bounds(Bytes left) const noexcept {
    return left < there ? -1 : std::min(left, most);
  }
};

/// "8 weights and 16 states", "16 states". THROWS: OutOfMemory.
NEAP_API std::string what_is_away(const Fitting& fitting);

/// "all values kept", "cross_entropy in 8 pieces, 4 micro-batches, 12 calls run
/// again, 4 states in a file, 5 values spilled, 12.0 MiB written a step".
/// THROWS: OutOfMemory.
NEAP_API std::string ways_of(const Fitting& fitting);

/// Bytes that runs write to the spill file in a day, one after the other, each
/// as long as predicted.
NEAP_API Bytes written_a_day(const Fitting& fitting) noexcept;

/// A program that fits, and how it was made so.
struct Fitted {
  Program program;
  PlanRecord record;  // its arena is that of the program as it is planned
  /// With a limit that is lower by so much it is the same program.
  Bytes spare = 0;
};

/// The traced program after its passes, bound, with a host arena of at most
/// `limit.bytes`. `fitting` of it says how; without calls that run again it is
/// the program that run_passes() gives. Rates of the spill file that a plan
/// needs and `options` lack are measured, and are in `options` then, so that
/// the next plan has the same.
/// THROWS: PlanError where no schedule is found: names the least arena that one
/// was found for, and the call that needs most at once; as with_rates(),
/// run_passes(), bind() and plan().
NEAP_API Fitted fitted(const Program& traced, CompileOptions& options,
                       const ArenaLimit& limit);

/// A program with all away that Debug::away says, and as large an arena as that
/// takes. REQUIRES: a spill
/// folder. THROWS: as fitted().
NEAP_API Fitted all_away(const Program& traced, CompileOptions& options);

}  // namespace neap::compiler
