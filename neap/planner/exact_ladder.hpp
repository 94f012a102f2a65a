// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Climbs to the lowest plan of one timeline by questions "is there a plan of at
// most this height?": first at the lower bound, then, where that is not decided
// soon, halfway between it and the best plan known, again and again. Rungs that
// stay undecided are skipped for a round; each round spends twice as much on a
// rung as the one before it. A question is put in short runs of several styles,
// begun over and over (restarts after Luby, Sinclair and Zuckerman 1993).
#pragma once

#include "neap/planner/effort.hpp"
#include "neap/planner/exact_search.hpp"

namespace neap::planner {

class ExactLadder {
 public:
  struct Bounds {
    std::int64_t known = kNoLimit;  // only plans below this height count
    std::int64_t enough = 0;        // stop at a height of at most this
    std::int64_t first = 0;         // the first height to ask for
  };

  /// LIFETIME: the effort outlives it. THROWS: OutOfMemory.
  ExactLadder(const Timeline& timeline, Effort& effort);

  /// The lowest plan found; without offsets: none below `bounds.known`.
  /// THROWS: OutOfMemory.
  Plan climb(const Bounds& bounds);

  /// After climb(): no plan is lower than the best, or none at all is below
  /// the height that was known.
  bool is_settled() const noexcept { return low_ >= high_; }
  /// No plan is lower; climb() raises it.
  std::int64_t lower_bound() const noexcept { return low_ * sections_.unit(); }

 private:
  using Answer = ExactSearch::Answer;
  Answer ask(std::int64_t target, std::int64_t steps);
  void round(std::int64_t enough, std::int64_t steps);
  void take();

  const Timeline* timeline_;
  Effort* effort_;
  Sections sections_;
  ExactSearch search_;
  std::uint64_t runs_ = 0;  // so far, over all rungs
  std::int64_t low_ = 0;    // in units, no plan is lower
  std::int64_t high_ = 0;   // in units, plans below it are wanted
  bool is_high_known_ = false;
  Plan best_;
};

}  // namespace neap::planner
