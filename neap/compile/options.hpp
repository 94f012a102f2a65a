// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Options of a compiled step.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "neap/compile/cost_book.hpp"
#include "neap/compile/debug.hpp"
#include "neap/planner/problem.hpp"
#include "neap/program/passes.hpp"

namespace neap {

namespace files {
class Door;
}
namespace compiler {
class Ranks;
}

/// A file for values that a step does not need for a while, used where memory
/// is limited. It lies in `folder`, has no name, and is removed with the step.
struct SpillOptions {
  /// The file's folder; empty: values stay in memory. A folder in memory
  /// (tmpfs) is refused.
  std::string folder{};
  /// The rates of the file that plans count on, in bytes a second; 0: measured
  /// in the folder when a plan first needs it, once in the life of a step, and
  /// plans count on a part of that (compile/channel.hpp). With rates given, the
  /// same step has the same plan at every start.
  std::int64_t write_rate = 0;
  std::int64_t fetch_rate = 0;
  /// The most bytes that a run may write, since writing wears a disk.
  Bytes most_written = kUnlimited;
  /// The same bound for a day of runs, one after the other, each as long as
  /// predicted for the step with all values kept.
  Bytes most_written_a_day = kUnlimited;
  /// The least size of a value that is moved: each move takes the disk a while.
  Bytes least = 64 * kKiB;
  /// States and weights get to the file in parts of so many bytes, a multiple
  /// of 64, each with a checksum. Where memory is scarce, those of more than
  /// two parts are updated one part, or a few, at a time.
  Bytes part = 4 * kMiB;
  /// With a `budget`, state that only an update reads and writes (an
  /// optimizer's moments) may be in a file of its own between runs. It is read
  /// back where anything else reads it.
  bool states = true;
  /// The same for weights: parameters that a step's calls read, and that one
  /// update writes after that, or nothing.
  bool weights = true;
  /// The file system that is used; null: the system's. LIFETIME: beyond the
  /// step's.
  files::Door* door = nullptr;
};

/// A file that keeps how the programs of a step were made to fit their limit.
/// With it, each start of the step has the same arena and the same schedule,
/// without a search and without measuring a disk. A missing file is written,
/// atomically, as soon as a program is known to fit.
struct PlanOptions {
  /// The path of the file; empty: none. A file that is damaged, or was written
  /// for another step, other limits or options or another number of threads, is
  /// refused with a PlanFileError. Programs for further shapes are added to it.
  std::string file{};
  /// The budget of the whole run that the limits were found for, if any; a file
  /// for another budget is refused.
  Bytes run_budget = kUnlimited;
  /// The file system that is used; null: the system's. LIFETIME: beyond the
  /// step's.
  files::Door* door = nullptr;
};

struct CompileOptions {
  /// If > 0, axis 0 of every tensor argument of rank >= 1 is the batch, of at
  /// most this size. The arena is sized for that size before anything runs;
  /// other sizes are traced once each, into the same arena.
  std::int64_t max_batch = 0;
  /// Batch sizes that are traced at the first call, or in prepare().
  memory::Vector<std::int64_t> warm{};
  /// A block of the caller's to be the arena; empty: the step allocates one.
  /// LIFETIME: beyond the step's.
  std::span<std::byte> memory{};
  /// Puts the host's arena in pages, where that makes it smaller: a buffer may
  /// then lie on pages that are apart (docs/compile.md says what it costs). Not
  /// together with `memory`.
  bool paged = false;
  /// The most bytes of the host's arena. Where the step needs more, some of its
  /// calls run again, so that their values need not be kept (activation
  /// checkpointing): the same bits, for more time (Prediction::fitting says how
  /// much). A PlanError where that does not suffice. All programs of the step
  /// keep to it.
  Bytes arena_limit = kUnlimited;
  /// The most bytes that may be held, by whatever code, together with those of
  /// the process (neap::Budget), while the step is traced, planned and run.
  /// Where the step needs more, its arena is limited to what is left beside the
  /// step's bookkeeping, gradients and kept results. Where a Budget with less
  /// is open, that one counts. A PlanError where no plan fits, OutOfMemory
  /// where tracing or planning does not. Between calls nothing is refused; what
  /// the caller allocates then lessens what is left.
  Bytes budget = kUnlimited;
  /// A file that values may be moved to, when memory is limited by one of the
  /// two.
  SpillOptions spill{};
  /// A file that keeps the choice of a plan from one start to the next.
  PlanOptions plan{};
  /// Measured times of calls, for plans within a limit and their predictions;
  /// null: a table, the same everywhere. Measuring takes some steps' time, once
  /// (compile/cost_book.hpp). A plan of a file holds for the costs that it was
  /// found with: with both, give costs a file, too.
  base::Ref<compiler::CostBook> costs{};
  /// Cuts the batch, all arguments with as many rows (axis 0) as the first
  /// tensor among them, into so many shards, at most one a row, which run one
  /// after another: what waits for the backward pass is a shard's. Sums over
  /// rows (gradients of weights, a mean loss) are joined by one binary tree
  /// over the shards, so that the bits of a step depend on this number, and on
  /// no other choice. Draws are those of the whole batch. Calls that need all
  /// rows at once (batch_norm) run once, on all of them; Program::sharding
  /// counts them. 1: whole.
  int shards = 1;
  /// The ranks that share out the shards, as many each (dist::Group gives it):
  /// a call is one of all ranks, whose arguments hold the rows of its own
  /// shards, and the step is traced for the rows of all of them. Sums, states
  /// and results are those of the whole batch in every rank, with the bits of
  /// one rank that has all shards. What a call needs of other ranks' rows they
  /// send. Neither with `max_batch`, `paged`, `memory` and `plan`, nor with
  /// arguments that have gaps. After a RankLost states may be half written. Null: one.
  std::shared_ptr<compiler::Ranks> ranks{};
  /// Whether calls may run again to meet a limit.
  bool recompute = true;
  /// Gives results (all, or those with these numbers) blocks of their own,
  /// which are freed with the last handle; others are invalid after the next
  /// call.
  bool keep_all = false;
  memory::Vector<int> keep{};
  /// The most programs, for other shapes and other control flow; beyond them
  /// the least recently used one is freed.
  int programs = 8;
  /// If n > 0, every n-th call of a program traces the step again and compares
  /// what it did, so that a changed host value or branch is found: a TraceError
  /// then names the first call that differs, and the next call traces again.
  /// The step's own host code runs in such calls.
  int verify = 0;
  compiler::Passes passes{};
  compiler::Debug debug{};
  planner::SolveOptions planner{};
};

}  // namespace neap
