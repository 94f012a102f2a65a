// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// States that are on a file between runs: the moments of an optimizer, say. A
// run has a state in the arena from its fetch to its spill.
//
//                                %1 = fetch state 0
//                                ...
//                                await(%1)
//   %9 over %1 = adam(%8)   ->   %9 over %1 = adam(%8)     %1 was external
//                                spill state 0 (%9)
//                                ...
//                                await(%9)
//
// The moves are calls as those of values that live within a run are
// (scheduling.hpp). Between runs the program's external has no value.
#pragma once

#include <cstdint>
#include <span>

#include "neap/program/dataflow.hpp"

namespace neap::compiler {

/// A storage that one call alone reads and writes.
struct UpdatedState {
  std::uint32_t external = 0;
  std::uint32_t update = 0;  // the call
  Bytes size = 0;
};

/// The states of a program in the order of their updates: externals of at least
/// `least` bytes in the host's memory that the library holds, which a call
/// updates, and nothing else touches. THROWS: OutOfMemory.
NEAP_API memory::Vector<UpdatedState> states_of(const Program& program,
                                                Bytes least);

/// When a state moves.
struct StateMoves {
  UpdatedState state;
  std::uint32_t fetch = 0;  // begins before this call, not after the update
  std::uint32_t await = 0;  // its spill has ended before this call, or (the
                            // number of calls) at the end; after the update
};

/// Keeps these states of the program away, each once. RETURNS: the former
/// position of each call, or kNoCall for a move. THROWS: OutOfMemory; the
/// program can then only be dropped.
NEAP_API memory::Vector<std::uint32_t> keep_away(
    Program& program, std::span<const StateMoves> moves);

}  // namespace neap::compiler
