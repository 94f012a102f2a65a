// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "neap/planner/greedy.hpp"
#include "neap/planner/lower_bound.hpp"

namespace neap::planner {
namespace {

// Solves the timelines one by one: what they share is the height alone, so
// that one needs to be no lower than another's bound.
class Solver {
 public:
  Solver(const Problem& merged, const SolveOptions& options)
      : merged_(merged),
        effort_(options.work, options.seconds),
        bound_(lower_bound(merged).height),
        enough_(std::max(options.good_enough, bound_)) {
    solution_.lower_bound = bound_;
  }

  Solution run() {
    if (bound_ > merged_.capacity) {
      return refuse(true);
    }
    solution_.method = "trivial";
    solution_.offsets.assign(merged_.buffers.size(), 0);
    for (std::size_t i = 0; i < merged_.buffers.size(); ++i) {
      solution_.offsets[i] =
          std::max<std::int64_t>(merged_.buffers[i].fixed, 0);
    }
    for (const Timeline& timeline : split_by_time(merged_)) {
      const Plan plan = greedy(timeline, enough_, effort_);
      if (plan.offsets.empty()) {
        return refuse(true);  // fixed buffers overlap
      }
      take(timeline, plan);
    }
    if (solution_.height > merged_.capacity) {
      return refuse(false);
    }
    solution_.is_proven = solution_.height == bound_;
    return finish();
  }

 private:
  void take(const Timeline& timeline, const Plan& plan) {
    for (std::size_t i = 0; i < timeline.items.size(); ++i) {
      solution_.offsets[static_cast<std::size_t>(timeline.buffers[i])] =
          plan.offsets[i];
    }
    if (plan.height > solution_.height) {
      solution_.height = plan.height;
      solution_.method = plan.method;
    }
  }
  Solution refuse(bool is_proven) {
    solution_.offsets.clear();
    solution_.height = 0;
    solution_.is_proven = is_proven;
    solution_.method = "none";
    return finish();
  }
  Solution finish() {
    solution_.work = effort_.spent();
    solution_.seconds = effort_.elapsed();
    return std::move(solution_);
  }

  const Problem& merged_;
  Effort effort_;
  std::int64_t bound_;
  std::int64_t enough_;
  Solution solution_;
};

// From a plan of the groups to one of all buffers.
void spread_aliases(const Problem& problem, const Merged& merged,
                    Solution& solution) {
  if (solution.offsets.empty()) {
    return;
  }
  memory::Vector<std::int64_t> offsets(problem.buffers.size());
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    const Buffer& b = problem.buffers[i];
    offsets[i] = solution.offsets[static_cast<std::size_t>(merged.owner[i])] +
                 (b.alias_of >= 0 ? b.alias_at : 0);
  }
  solution.offsets = std::move(offsets);
}

}  // namespace

Solution solve(const Problem& problem, const SolveOptions& options) {
  const Merged merged = merge_aliases(problem);
  Solution solution = Solver(merged.problem, options).run();
  spread_aliases(problem, merged, solution);
  return solution;
}

}  // namespace neap::planner
