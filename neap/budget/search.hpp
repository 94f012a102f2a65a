// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The cheapest schedule found within a target of memory.
#pragma once

#include "neap/budget/decoder.hpp"

namespace neap::budget {

/// The walks that try the first rankings, one of which is nearly always about
/// the best: of 113 targets of networks, the cheapest of these is 0.006 % of
/// the step above the cheapest of all fifty. With a channel, a coarse grid.
constexpr std::int64_t first_walks(const Problem& problem) noexcept {
  return problem.channel ? 50 : 12;
}

struct SearchOptions {
  /// Walks of the decoder at most, fifty of which try the rankings, two hundred
  /// with a channel. The same problem and walks give the same schedule on every
  /// machine.
  std::int64_t walks = 2000;
  /// Stops at a price of at most this.
  std::int64_t good_enough = 0;
};

/// The ranking of the cheapest walk within a target.
struct Start {
  Ranking ranking{};       // of all values alike
  std::int64_t price = 0;  // of its walk
};

struct Found {
  Schedule schedule;
  std::int64_t price = 0;
  std::int64_t walks = 0;  // done
  /// Rankings need not be tried again within the same target; none where no
  /// walk was about as cheap as the schedule.
  std::optional<Start> start{};
};

/// Walks with every ranking, then with ranks of single values, and whether they
/// are spilled, changed at random (simulated annealing over the decoder's
/// priorities). `incumbent`, a schedule within the target or nullptr, is what
/// is to be beaten; with a start of this target, no ranking is tried.
/// RETURNS: nothing where no walk ends and there is no incumbent. THROWS:
/// ValueError as check(); OutOfMemory.
NEAP_API std::optional<Found> search(const Problem& problem,
                                     std::int64_t target,
                                     const SearchOptions& options = {},
                                     const Found* incumbent = nullptr);

}  // namespace neap::budget
