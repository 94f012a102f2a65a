// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The choice of states and weights that leave memory between runs of a step,
// and its cost. What is away gives its bytes to the arena, but is in the arena
// itself from each of its fetches to the last use of it there, or to its spill.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "neap/budget/problem.hpp"
#include "neap/compile/options.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/program.hpp"

namespace neap::compiler {

/// A choice of states, and of weights.
struct Away {
  /// The share of their bytes in percent, the largest first; 0: none.
  std::int64_t percent = 0;
  /// Moves are hidden behind calls: the fetch of a state begins before the
  /// update before its own, and its spill ends after the one that follows. Else
  /// a state is in memory for its update alone, and a weight for such of its
  /// uses as no other weight's is between.
  bool is_early = false;
  /// Weights as well as states.
  bool has_weights = false;
  /// The largest are updated for some of their elements at a time, and are in
  /// the arena for that in parts (SpillOptions::part). A weight is fetched once
  /// more then.
  bool in_parts = false;

  friend bool operator==(const Away&, const Away&) = default;
};

/// The choices that are tried in this order, beside none. Those in parts are
/// where something is large enough for it; then the last two are resorts, for
/// which a budget may have memory where it has none for the longer program.
inline constexpr std::array<Away, 9> kAwayChoices{
    {{.percent = 100, .is_early = true},
     {.percent = 100, .is_early = true, .in_parts = true},
     {.percent = 100, .in_parts = true},
     {.percent = 50, .is_early = true},
     {.percent = 100, .is_early = true, .has_weights = true},
     {.percent = 100, .is_early = true, .has_weights = true, .in_parts = true},
     {.percent = 100, .has_weights = true, .in_parts = true},
     {.percent = 100},
     {.percent = 100, .has_weights = true}}};

/// The bytes that may leave at all.
struct MostAway {
  Bytes states = 0;
  Bytes weights = 0;
  Bytes largest = 0;  // of one of them
  bool is_none() const noexcept { return states + weights == 0; }
};
/// Some of it may move in parts.
inline bool has_parts(const MostAway& most,
                      const SpillOptions& options) noexcept {
  return most.largest > 2 * options.part;
}
/// The bytes that the options let leave: none without a folder. THROWS:
/// OutOfMemory.
MostAway most_away(const Program& program, const SpillOptions& options);

/// Keeps what the choice says away. `prices`: of the program's calls, then of
/// the new ones: a run that waits for the file pays for it at the await, and
/// for the bus at the fetch and the spill. `bound`: the calls' kernels.
/// RETURNS: nanoseconds that a run waits. THROWS: OutOfMemory; the program can
/// then only be dropped.
std::int64_t keep_away(Program& program, std::span<const Binding> bound,
                       const Away& choice, const budget::Channel& channel,
                       const SpillOptions& options,
                       memory::Vector<std::int64_t>& prices);

/// Bytes that a run moves of what is away.
struct AwayTraffic {
  Bytes written = 0;
  Bytes fetched = 0;
};
AwayTraffic away_traffic(const Program& program) noexcept;

}  // namespace neap::compiler
