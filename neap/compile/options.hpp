// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Options of a compiled step.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "neap/compile/debug.hpp"
#include "neap/planner/problem.hpp"
#include "neap/program/passes.hpp"

namespace neap {

namespace files {
class Door;
}

/// A file that a step may keep values in while they are not needed, where
/// memory is limited: nameless, in this folder, gone with the step.
struct SpillOptions {
  /// Empty: values stay in memory. A folder in memory (tmpfs) is refused.
  std::string folder{};
  /// What the file is taken to move, in bytes a second; 0: measured in the
  /// folder when a plan first needs it, once in the life of a step, and plans
  /// count on a part of that (compile/channel.hpp). With rates given, the same
  /// step has the same plan at every start.
  std::int64_t write_rate = 0;
  std::int64_t fetch_rate = 0;
  /// The most bytes that a run may write: it wears a disk.
  Bytes most_written = kUnlimited;
  /// Smaller values stay in memory: each move takes the disk a while.
  Bytes least = 64 * kKiB;
  /// With a `budget`, states between runs (an optimizer's moments) may be in a
  /// file of their own there: what only an update reads and writes. They come
  /// home when anybody looks at them.
  bool states = true;
  /// So may weights: parameters that a step's calls read, and that one update
  /// writes after that, or nothing.
  bool weights = true;
  /// The file system; null: the system's. LIFETIME: beyond the step's.
  files::Door* door = nullptr;
};

/// A file that keeps how the programs of a step were made to fit their limit:
/// with it, each start of the step has the same arena and the same schedule,
/// without a search, and without a disk being measured. Where there is none it
/// is written, atomically, as soon as a program is known to fit.
struct PlanOptions {
  /// Empty: none. A file is of one step: of another one, of other limits or
  /// options or another number of threads, or damaged, it is refused with a
  /// PlanFileError. Programs for further shapes are added to it. Beside one,
  /// states and weights stay in memory between runs (SpillOptions::states).
  std::string file{};
  /// The budget of the whole run that the limits were found for, if any: a file
  /// of another one is refused.
  Bytes run_budget = kUnlimited;
  /// The file system; null: the system's. LIFETIME: beyond the step's.
  files::Door* door = nullptr;
};

struct CompileOptions {
  /// > 0: every tensor argument of rank >= 1 has the batch as its axis 0, at
  /// most this many. The arena is sized for it before anything runs; other
  /// sizes are traced once, into the same arena.
  std::int64_t max_batch = 0;
  /// Batch sizes that are traced at the first call, or in prepare().
  memory::Vector<std::int64_t> warm{};
  /// The arena is this block of the caller's. LIFETIME: beyond the step's.
  std::span<std::byte> memory{};
  /// The host's arena in pages, where that makes it lower: a buffer may then
  /// lie on pages that do not lie together (docs/compile.md says what it
  /// costs). Not together with `memory`.
  bool paged = false;
  /// The most bytes of the host's arena. Where the step needs more, some of its
  /// calls run again, so that their values need not be kept: the same bits, for
  /// more time (Prediction::fitting says how much). A PlanError where that does
  /// not suffice. All programs of the step keep to it.
  Bytes arena_limit = kUnlimited;
  /// The most bytes that may be held, by whatever code, beside those of the
  /// process (neap::Budget) while the step is traced, planned and run. Where
  /// the step needs more, its arena is limited to what is left; what the step
  /// makes besides (its books, gradients, kept results) is counted. Where a
  /// Budget with less is open, that one counts. A PlanError where no plan
  /// suffices, OutOfMemory where tracing or planning does not. What the caller
  /// asks for between calls is refused nothing, and takes from what is left.
  Bytes budget = kUnlimited;
  /// Where values may go, too, when memory is limited by one of the two.
  SpillOptions spill{};
  /// Where the choice of a plan is kept from one start to the next.
  PlanOptions plan{};
  /// To meet a limit, calls may run again.
  bool recompute = true;
  /// Results (all, or those with these numbers) in blocks of their own, which
  /// are freed with the last handle; others are invalid after the next call.
  bool keep_all = false;
  memory::Vector<int> keep{};
  /// The most programs, for other shapes and other control flow; beyond them
  /// the least recently used one is freed.
  int programs = 8;
  /// n > 0: every n-th call of a program traces the step again and compares
  /// what it did, so that a changed host value or branch is found: a TraceError
  /// then names the first call that differs, and the next call traces again.
  /// The step's own host code runs in such calls.
  int verify = 0;
  compiler::Passes passes{};
  compiler::Debug debug{};
  planner::SolveOptions planner{};
};

}  // namespace neap
