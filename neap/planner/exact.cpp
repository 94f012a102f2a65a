// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/exact.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/planner/exact_ladder.hpp"
#include "neap/planner/lower_bound.hpp"

namespace neap::planner {
namespace {

class ExactSolver {
 public:
  ExactSolver(const Problem& merged, const ExactOptions& options)
      : merged_(merged),
        options_(options),
        effort_(options.work, options.seconds),
        known_(std::min(options.incumbent, merged.capacity == kNoLimit
                                               ? kNoLimit
                                               : merged.capacity + 1)) {
    solution_.lower_bound = lower_bound(merged).height;
    solution_.method = "exact";
  }

  Solution run() {
    const auto timelines = split_by_time(merged_);
    solution_.offsets.assign(merged_.buffers.size(), 0);
    for (std::size_t i = 0; i < merged_.buffers.size(); ++i) {
      solution_.offsets[i] =
          std::max<std::int64_t>(merged_.buffers[i].fixed, 0);
    }
    bool is_found = solution_.lower_bound < known_;
    is_settled_ = !is_found;
    for (std::size_t i = 0; i < timelines.size() && is_found; ++i) {
      is_found = pack(timelines[i], timelines.size() - i);
    }
    if (is_found) {
      solution_.is_proven = solution_.lower_bound >= solution_.height;
    } else {
      refuse();
    }
    solution_.work = effort_.spent();
    solution_.seconds = effort_.elapsed();
    return std::move(solution_);
  }

 private:
  // Spends an equal share of the effort on each timeline that is left.
  bool pack(const Timeline& timeline, std::size_t left) {
    const auto parts = static_cast<std::int64_t>(left);
    Effort share((effort_.left() + parts - 1) / parts,
                 effort_.seconds_left() / static_cast<double>(parts));
    // No timeline needs to be lower than another.
    const std::int64_t enough = std::max(
        {options_.good_enough, solution_.lower_bound, solution_.height});
    ExactLadder ladder(timeline, share);
    const Plan plan =
        ladder.climb({.known = known_,
                      .enough = enough,
                      .first = std::max(enough, options_.first_target)});
    effort_.spend(share.spent());
    solution_.lower_bound =
        std::max(solution_.lower_bound, ladder.lower_bound());
    for (std::size_t i = 0; i < plan.offsets.size(); ++i) {
      solution_.offsets[static_cast<std::size_t>(timeline.buffers[i])] =
          plan.offsets[i];
    }
    solution_.height = std::max(
        solution_.height, plan.offsets.empty() ? std::int64_t{0} : plan.height);
    is_settled_ = plan.offsets.empty() && ladder.is_settled();
    return !plan.offsets.empty();
  }

  void refuse() {
    solution_.offsets.clear();
    solution_.height = 0;
    solution_.is_proven = is_settled_;
    if (options_.incumbent != kNoLimit) {
      solution_.height = options_.incumbent;
      solution_.lower_bound =
          std::min(solution_.lower_bound, options_.incumbent);
    }
  }

  const Problem& merged_;
  const ExactOptions& options_;
  Effort effort_;
  std::int64_t known_;       // plans below it are wanted
  bool is_settled_ = false;  // a timeline has no plan below that
  Solution solution_;
};

}  // namespace

Solution exact(const Problem& merged, const ExactOptions& options) {
  for (std::size_t i = 0; i < merged.buffers.size(); ++i) {
    if (merged.buffers[i].alias_of >= 0) {
      base::raise<ValueError>("exact: buffer {} is an alias, merge it first",
                              i);
    }
  }
  return ExactSolver(merged, options).run();
}

}  // namespace neap::planner
