// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The ways to run a step for some rows at a time that are worth trying where
// its arena is limited: heads in pieces (head_pieces.hpp), and the whole batch
// in micro-batches. Both keep the bits.
#pragma once

#include "neap/compile/head_pieces.hpp"
#include "neap/compile/options.hpp"

namespace neap::compiler {

struct Cuts {
  HeadPieces heads;
  /// Numbers of micro-batches, each twice the one before, of which each needs a
  /// smaller arena than the one before.
  memory::Vector<std::uint32_t> micro_batches;
  /// The largest of them in which calls may run again as well: a search for
  /// those takes long in long programs. 0: none.
  std::uint32_t scheduled = 0;

  /// The passes for each of them, each call once.
  memory::Vector<Passes> kept(const Passes& passes) const;
};

/// REQUIRES: `arena`, that of all rows at once. THROWS: as all_kept().
Cuts cuts_of(const Program& traced, const CompileOptions& options, Bytes arena);

}  // namespace neap::compiler
