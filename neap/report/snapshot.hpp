// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Snapshot: where every byte of a step was, and when: the calls, the blocks
// that they made, what stays, and sums that add up. It is what a page shows
// (page.hpp), what a file keeps (snapshot_file.hpp), and what the exports for
// other viewers read.
//
// Texts (ops, layers, lines, shapes) are positions in one table. Time counts
// calls. A block is one value, from the call that made it to the last call that
// needs it; a value that takes another one's memory over begins where that one
// ends, at the same offset. All the memory at an instant is
//
//   blocks' own bytes + rounding + gaps  = arena
//   arena + stays + program + idle + overhead = reserved
//
// where an arena in memory that the caller lends is counted, too: what is lent
// is not held, and no budget is of it.
//
// The same program and plan give the same snapshot: it has no date, no host and
// no absolute path.
#pragma once

#include <cstdint>

#include "neap/base/bytes.hpp"
#include "neap/memory/containers.hpp"

namespace neap::report {

/// A position in Snapshot::texts; 0 is the empty text.
using TextId = std::uint32_t;

struct Snapshot {
  static constexpr std::uint32_t kNone = ~0U;

  enum class Phase : std::uint8_t { kForward, kBackward, kUpdate };

  struct Call {
    TextId op = 0;
    TextId layer = 0;  // owner path
    TextId line = 0;   // "train.cpp:12 (step)"
    Phase phase = Phase::kForward;
    bool is_again = false;    // it was run before, and recomputes
    std::int64_t ns = -1;     // of a profile; -1: none was taken
    std::int64_t flops = -1;  // arithmetic operations; -1: not known
    Bytes moved = -1;         // bytes read and written; -1: not known
    std::int64_t share = -1;  // of the limits in Sums, in 1/1000; -1: not known
  };

  enum class Kind : std::uint8_t {
    kValue,
    kWorkspace,   // scratch of one call
    kRecomputed,  // made by a call that runs again
    kFetched,     // comes from the spill file
  };

  struct Block {
    std::uint32_t first = 0;  // call that makes it
    std::uint32_t last = 0;   // last call at which it is there
    std::uint8_t space = 0;
    Kind kind = Kind::kValue;
    Bytes offset = 0;  // in the arena of its space
    Bytes bytes = 0;   // that it keeps from others, in whole units
    Bytes used = 0;    // its own, without rounding
    TextId category = 0;
    TextId dtype = 0;
    TextId shape = 0;  // "[8, 128]"
    TextId layer = 0;
    TextId line = 0;
    std::uint32_t value = kNone;  // number in the program; kNone: scratch
    std::uint32_t over = kNone;   // block whose memory it took over
  };

  /// A call that reads a block. In the order of blocks, then of calls.
  struct Read {
    std::uint32_t block = 0;
    std::uint32_t call = 0;
  };

  /// Memory that is there before, during and after the step.
  struct Stay {
    TextId owner = 0;
    TextId category = 0;
    Bytes bytes = 0;
  };

  /// An event that ends a step of a run.
  enum class StepKind : std::int8_t {
    kNone = -1,  // there are no steps, or nobody said
    kCall,       // of a module, by the program itself
    kUpdate,     // of parameters, by an optimizer
    kRun,        // of a compiled step
  };

  /// Several steps of a run.
  struct Step {
    Bytes live = 0;  // at its end
    Bytes held = 0;
    std::int64_t ns = -1;
    Bytes peak = -1;  // the most that was live in it; -1: not known
  };

  struct Sums {
    Bytes reserved = 0;
    Bytes predicted = -1;  // of `reserved`; -1: nobody did
    Bytes arena = 0;       // of all spaces
    Bytes stays = 0;
    Bytes program = 0;    // the program and its plan
    Bytes idle = 0;       // pages kept for reuse
    Bytes overhead = 0;   // the allocator's rounding
    Bytes arguments = 0;  // the caller's, beside `reserved`
    Bytes external = 0;   // of the process, beside `reserved`
    Bytes budget =
        -1;  // of `reserved` without `lent`, and `external`; -1: none
    Bytes lower_bound = 0;  // no arena for this order of calls is lower
    bool is_proven = false;
    std::uint32_t peak_call = 0;
    Bytes live_at_peak = 0;            // blocks' bytes there, in whole units
    Bytes used_at_peak = 0;            // without rounding
    std::int64_t flops_a_second = -1;  // the machine's limits, as measured for
    Bytes bytes_a_second = -1;         // a profile; -1: not known
    Bytes lent = -1;  // of `reserved`: an arena of the caller's; -1: none
    std::int64_t compared = -1;  // steps, for growth; -1: not looked for
    StepKind step_kind = StepKind::kNone;  // what `steps` and `compared` count
    /// The most that the domain held, in the run so far or in a dry run,
    /// without `lent`; -1: not known.
    Bytes held_at_most = -1;

    /// Reserved bytes that are not the caller's.
    Bytes held() const noexcept { return reserved - (lent > 0 ? lent : 0); }
    /// The most that a budget is to suffice for, beside `external`.
    Bytes needed() const noexcept {
      return held_at_most > held() ? held_at_most : held();
    }
  };

  memory::String title;  // "gpt, batch 8, adamw"
  bool is_eager =
      false;  // calls are the events of a domain, offsets pages' ones
  memory::Vector<memory::String> texts;  // sorted is not promised; [0] is ""
  Sums sums;
  memory::Vector<Call> calls;
  memory::Vector<Block> blocks;  // by first, then offset
  memory::Vector<Read> reads;
  memory::Vector<Stay> stays;  // largest first
  memory::Vector<Step> steps;
  memory::Vector<memory::String> refusals;  // a sentence each
  memory::Vector<memory::String> leaks;     // a chain each, lines by '\n'

  std::string_view text(TextId id) const noexcept { return texts[id]; }
};

}  // namespace neap::report
