// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The choice of states that leave memory between runs of a step, and its cost.
// A state that is away gives its bytes to the arena, but is in the arena itself
// from its fetch to its spill.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "neap/budget/problem.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

/// A choice of states.
struct Away {
  /// The share of their bytes in percent, the largest first; 0: none.
  std::int64_t percent = 0;
  /// Fetches begin before the update before, and spills end after the one that
  /// follows, so that calls hide them; else a state is in memory for its update
  /// alone.
  bool is_early = false;
};

/// The choices that are tried, beside none.
inline constexpr std::array<Away, 3> kAwayChoices{
    {{.percent = 100, .is_early = true},
     {.percent = 100},
     {.percent = 50, .is_early = true}}};

/// Keeps the states of the choice away. `prices`: of the program's calls, then
/// of the new ones: a run that waits for the file pays for it at the await, and
/// for the bus at the fetch and the spill. RETURNS: nanoseconds that a run
/// waits. THROWS: OutOfMemory; the program can then only be dropped.
std::int64_t keep_away(Program& program, const Away& choice,
                       const budget::Channel& channel, Bytes least,
                       memory::Vector<std::int64_t>& prices);

}  // namespace neap::compiler
