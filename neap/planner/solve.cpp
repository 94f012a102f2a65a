// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "neap/planner/exact.hpp"
#include "neap/planner/local_search.hpp"
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
    timelines_ = split_by_time(merged_);
    if (!start()) {
      return refuse(true);  // fixed buffers overlap
    }
    const std::int64_t enough = enough_;
    Effort search = effort_of_search();
    improve_all(search);
    effort_.spend(search.spent());
    gather();
    if (solution_.height > enough && !effort_.is_over() && may_be_exact()) {
      search_exactly(enough);
    }
    if (solution_.height > merged_.capacity) {
      return refuse(solution_.lower_bound > merged_.capacity);
    }
    solution_.is_proven = solution_.height <= solution_.lower_bound;
    return finish();
  }

 private:
  // A first plan for each timeline.
  bool start() {
    for (const Timeline& timeline : timelines_) {
      plans_.push_back(greedy(timeline, Orders(timeline), enough_, effort_));
      if (plans_.back().offsets.empty()) {
        return false;
      }
    }
    return true;
  }

  // The lowest first, since what one ends with is enough for the others; each
  // gets an equal share of what is left.
  void improve_all(Effort& effort) {
    memory::Vector<std::size_t> pending;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i].height > enough_) {
        pending.push_back(i);
      }
    }
    std::sort(pending.begin(), pending.end(),
              [&](std::size_t a, std::size_t b) {
                return plans_[a].height != plans_[b].height
                           ? plans_[a].height < plans_[b].height
                           : a < b;
              });
    for (std::size_t k = 0; k < pending.size(); ++k) {
      const auto shares = static_cast<std::int64_t>(pending.size() - k);
      Plan& plan = plans_[pending[k]];
      Effort share = effort.share(shares);
      if (plan.height > enough_) {
        search(timelines_[pending[k]], plan, share);
      }
      effort.spend(share.spent());
      enough_ = std::max(enough_, plan.height);
    }
  }

  // For small problems the exact solver does better than local search, so
  // that a short one is enough; of large ones it makes little.
  Effort effort_of_search() const noexcept {
    constexpr std::size_t kSmall = 600;
    constexpr std::int64_t kStepsPerBuffer = 300;
    if (!may_be_exact()) {
      return effort_.share(1);
    }
    const std::size_t count = merged_.buffers.size();
    if (count > kSmall) {
      return effort_.share(2);
    }
    const auto steps = kStepsPerBuffer * static_cast<std::int64_t>(count);
    return Effort(std::min(steps, effort_.left() / 2),
                  effort_.seconds_left() / 2);
  }

  // The exact solver's tables are as large as the sum of all lifetimes.
  bool may_be_exact() const noexcept {
    constexpr std::int64_t kMost = 300'000;
    std::int64_t sum = 0;
    for (const Timeline& timeline : timelines_) {
      for (const Item& item : timeline.items) {
        sum += item.end - item.begin;
      }
    }
    return sum <= kMost;
  }

  void search_exactly(std::int64_t enough) {
    // A step of its search takes so many times as long as one of ours.
    const std::int64_t worth = std::max<std::int64_t>(
        16, static_cast<std::int64_t>(merged_.buffers.size()) / 8);
    Solution found = exact(merged_, {.work = effort_.left() / worth,
                                     .seconds = effort_.seconds_left(),
                                     .incumbent = solution_.height,
                                     .good_enough = enough});
    effort_.spend(found.work * worth);
    if (!found.offsets.empty()) {
      solution_.offsets = std::move(found.offsets);
      solution_.height = found.height;
      solution_.method = found.method;
    }
    solution_.lower_bound = std::max(solution_.lower_bound, found.lower_bound);
    if (found.is_proven && found.offsets.empty()) {
      // None is lower than the incumbent, or than what may be held at all.
      solution_.lower_bound = merged_.capacity < solution_.height
                                  ? merged_.capacity + 1
                                  : solution_.height;
    }
  }

  void search(const Timeline& timeline, Plan& plan, Effort& effort) {
    const Orders orders(timeline);
    plan = improve(timeline, orders, std::move(plan),
                   {enough_, 1, effort.left()}, effort);
  }

  void gather() {
    for (std::size_t k = 0; k < plans_.size(); ++k) {
      const Timeline& timeline = timelines_[k];
      for (std::size_t i = 0; i < timeline.items.size(); ++i) {
        solution_.offsets[static_cast<std::size_t>(timeline.buffers[i])] =
            plans_[k].offsets[i];
      }
      if (plans_[k].height > solution_.height) {
        solution_.height = plans_[k].height;
        solution_.method = plans_[k].method;
      }
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
  std::int64_t enough_;  // no plan of a part needs to be lower
  memory::Vector<Timeline> timelines_;
  memory::Vector<Plan> plans_;  // of each
  Solution solution_;
};

// A plan of all buffers from one of the groups.
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
