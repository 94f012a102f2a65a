// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The ways to run a step for some rows at a time that are worth trying where
// its arena is limited: heads in pieces (head_pieces.hpp), recurrent layers in
// pieces of time (time_pieces.hpp), and the whole batch in micro-batches. All
// keep the bits.
#pragma once

#include "neap/base/function_ref.hpp"
#include "neap/compile/head_pieces.hpp"
#include "neap/compile/options.hpp"

namespace neap::compiler {

/// The bytes that a limit leaves for the arena beside a program of so many
/// calls.
using LeftBeside = base::FunctionRef<Bytes(std::size_t calls)>;

struct MicroBatches {
  std::uint32_t count = 0;
  Bytes arena = 0;  // each call once
  std::size_t calls = 0;
  /// Whether calls may run again in them: a search for those takes long in long
  /// programs.
  bool is_searched = false;
};

struct Cuts {
  HeadPieces heads;
  /// Each of more parts than the one before, in a smaller arena.
  memory::Vector<MicroBatches> micro_batches;
  /// Numbers of pieces of time of recurrent layers.
  memory::Vector<std::uint32_t> time;

  /// The micro-batches in which calls most likely run again to meet a limit:
  /// the most of them that are above it, so that few calls have to. nullptr:
  /// none.
  const MicroBatches* above(LeftBeside left) const;
  /// The passes for each of them, each call once.
  memory::Vector<Passes> kept(const Passes& passes) const;
};

/// REQUIRES: `arena`, that of all rows at once. THROWS: as all_kept().
Cuts cuts_of(const Program& traced, const CompileOptions& options, Bytes arena);

/// An op of the step that needs all rows of the batch at once, such as a norm
/// over the batch; nullptr: none.
const graph::Op* needs_whole_batch(const Program& traced) noexcept;

}  // namespace neap::compiler
