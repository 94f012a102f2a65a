// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Schedules of a chain by checkpoints: candidates beside those that walks find,
// which choose value by value and do not see that a whole stage may run again
// from the state before it.
#pragma once

#include "neap/budget/chain.hpp"
#include "neap/budget/checkpoints.hpp"
#include "neap/budget/search.hpp"

namespace neap::budget {

class ChainSeeds {
 public:
  /// Finds the chain and the figures of its schedules; none where there is no
  /// chain. REQUIRES: check(problem). LIFETIME: problem outlives it.
  /// THROWS: OutOfMemory.
  explicit ChainSeeds(const Problem& problem);

  /// The cheapest of them within a target, trimmed. THROWS: OutOfMemory.
  std::optional<Found> within(std::int64_t target) const;
  /// The number of them.
  std::size_t size() const noexcept { return seeds_.size(); }

 private:
  struct Seed {
    std::int32_t memory = 0;  // that the checkpoints are chosen for
    std::int64_t peak = 0;
    std::int64_t price = 0;
  };
  Schedule schedule(std::int32_t memory) const;

  const Problem& problem_;
  Uses uses_;
  std::optional<Chain> chain_;
  std::optional<Checkpoints> checkpoints_;
  memory::Vector<Seed> seeds_;
};

}  // namespace neap::budget
