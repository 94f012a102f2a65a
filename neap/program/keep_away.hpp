// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Storages that are on a file between runs: the moments of an optimizer, say,
// and weights. A run has one in the arena from a fetch to its last use.
//
//                                %1 = fetch state 0
//                                ...
//                                await(%1)
//   %9 over %1 = adam(%8)   ->   %9 over %1 = adam(%8)     %1 was external
//                                spill state 0 (%9)
//                                ...
//                                await(%9)
//
// A weight is read by several calls, too. Groups of them have a value each;
// between two of them it is on the file alone, where it is as it was:
//
//                                %1 = fetch state 1;  await(%1)
//   %2 = matmul(%0, %1)          %2 = matmul(%0, %1)
//   ...                     ->   ...                       no %1 here
//                                %7 = fetch state 1;  await(%7)
//   %3 = matmul(%2, %1')         %3 = matmul(%2, %7')
//   %4 over %1 = adam(%3)        %4 over %7 = adam(%3)
//                                spill state 1 (%4);  await(%4)
//
// The moves are calls as those of values that live within a run are
// (scheduling.hpp). Between runs the program's external has no value. A large
// storage may move in parts (update_parts.hpp).
#pragma once

#include <cstdint>
#include <span>

#include "neap/program/dataflow.hpp"

namespace neap::compiler {

/// A storage that a program may keep away, or a part of one.
struct MayGo {
  std::uint32_t external = 0;
  std::uint32_t update = kNoCall;  // the call that writes it; none: it is read
  Bytes size = 0;
  memory::Vector<std::uint32_t> uses{};  // all calls, in order; the update last
  ValueId before = kNoValue;
  ValueId after = kNoValue;  // the update's
  Bytes offset = 0;
  bool is_counted = true;  // as AwayState's
};

/// The states of a program in the order of their updates: externals of at least
/// `least` bytes in the host's memory that the library holds, which a call
/// updates, and nothing else touches. THROWS: OutOfMemory.
NEAP_API memory::Vector<MayGo> states_of(const Program& program, Bytes least);

/// Its weights, in the order of externals: parameters, and such tensors as
/// derivatives flow to, which kernels read and one call alone updates after
/// that, or none. One that anything else of the step touches, a check or a
/// result, say, is none of them. THROWS: OutOfMemory.
NEAP_API memory::Vector<MayGo> weights_of(const Program& program, Bytes least);

/// Uses for which a value is in the arena all the while.
struct UseGroup {
  std::uint32_t fetch = 0;  // begins before this call, not after `first`
  std::uint32_t first = 0;  // of its calls
  std::uint32_t last = 0;
};

/// When a storage moves.
struct AwayMoves {
  MayGo what;
  bool is_weight = false;
  memory::Vector<UseGroup> groups{};  // of all uses, one after the other
  std::uint32_t await = 0;  // the spill has ended before this call, or (the
                            // number of calls) at the end; after the update
};

/// Keeps these storages of the program away, each once. RETURNS: the former
/// position of each call, or kNoCall for a move. THROWS: OutOfMemory; the
/// program can then only be dropped.
NEAP_API memory::Vector<std::uint32_t> keep_away(
    Program& program, std::span<const AwayMoves> moves);

}  // namespace neap::compiler
