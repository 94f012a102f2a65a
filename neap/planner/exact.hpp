// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The exact solver: the lowest plan there is, with a proof, where the search
// comes to its end; else the best plan met on the way.
//
// The problem falls into timelines that never meet (timeline.hpp). For each a
// ladder of target heights (exact_ladder.hpp) asks a branch and bound
// (exact_search.hpp) whether a plan so low exists. Memory: a fixed table of
// failures, and of the order of the sum over sections of the buffers that live
// in them.
#pragma once

#include "neap/planner/problem.hpp"

namespace neap::planner {

struct ExactOptions {
  std::int64_t work = 2'000'000;      // steps of search at most
  double seconds = 0.0;               // > 0: ends the search, too
  std::int64_t incumbent = kNoLimit;  // the height of a plan that is known
  std::int64_t first_target = 0;      // the first height to ask for
  std::int64_t good_enough = 0;       // stop at a height of at most this
};

/// The lowest plan below the incumbent (and not beyond the capacity). Without
/// offsets: none was found; the height is then the incumbent's, or 0. The lower
/// bound is raised where targets were refuted; `is_proven` says that none
/// lower than the plan or the incumbent exists, or none at all fits.
/// REQUIRES: no aliases. THROWS: ValueError as check(), and for aliases;
/// OutOfMemory.
NEAP_API Solution exact(const Problem& merged,
                        const ExactOptions& options = {});

}  // namespace neap::planner
