// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The cheapest schedule found within a target of memory.
#pragma once

#include "neap/budget/decoder.hpp"

namespace neap::budget {

struct SearchOptions {
  /// Walks of the decoder at most, fifty of which try the rankings, two hundred
  /// with a channel. The same problem and walks give the same schedule on every
  /// machine.
  std::int64_t walks = 2000;
  /// Stops at a price of at most this.
  std::int64_t good_enough = 0;
};

struct Found {
  Schedule schedule;
  std::int64_t price = 0;
  std::int64_t walks = 0;  // done
};

/// Walks with every ranking, then with ranks of single values, and whether they
/// are spilled, changed at random (simulated annealing over the decoder's
/// priorities). `incumbent`, a schedule
/// of a smaller target or nullptr, is what is to be beaten. RETURNS: nothing
/// where no walk ends and there is no incumbent. THROWS: ValueError as check();
/// OutOfMemory.
NEAP_API std::optional<Found> search(const Problem& problem,
                                     std::int64_t target,
                                     const SearchOptions& options = {},
                                     const Found* incumbent = nullptr);

}  // namespace neap::budget
