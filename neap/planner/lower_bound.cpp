// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/lower_bound.hpp"

#include <algorithm>
#include <numeric>
#include <queue>

#include "neap/planner/round_up.hpp"

namespace neap::planner {
namespace {

// A unit that divides every offset of every plan.
std::int64_t common_unit(const Problem& problem) noexcept {
  std::int64_t unit = 0;
  for (const Buffer& b : problem.buffers) {
    if (b.size > 0) {
      unit = std::gcd(unit, b.alignment);
    }
  }
  return std::max<std::int64_t>(unit, 1);
}

struct Slack {
  std::int64_t rounding;  // what rounding up added to the size
  std::int64_t upper;
  bool operator<(const Slack& other) const noexcept {
    return rounding < other.rounding;
  }
};

// The greatest rounding among what lives: it may be the topmost's, which
// sticks out of nothing. The dead leave the heap when they come to its top.
class Slacks {
 public:
  void add(const Slack& slack) { heap_.push(slack); }
  std::int64_t greatest(std::int64_t instant) {
    while (!heap_.empty() && heap_.top().upper <= instant) {
      heap_.pop();
    }
    return heap_.empty() ? 0 : heap_.top().rounding;
  }

 private:
  std::priority_queue<Slack, memory::Vector<Slack>> heap_;
};

template <class Key>
memory::Vector<std::int32_t> sorted_by(const Problem& problem, Key key) {
  memory::Vector<std::int32_t> order(problem.buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return key(problem.buffers[static_cast<std::size_t>(a)]) <
           key(problem.buffers[static_cast<std::size_t>(b)]);
  });
  return order;
}

LowerBound bound_of_merged(const Problem& problem) {
  const std::int64_t unit = common_unit(problem);
  const auto comers =
      sorted_by(problem, [](const Buffer& b) { return b.lower; });
  const auto leavers =
      sorted_by(problem, [](const Buffer& b) { return b.upper; });
  LowerBound best;
  Slacks slacks;
  std::int64_t live = 0;
  std::size_t left = 0;
  for (std::size_t i = 0; i < comers.size(); ++i) {
    const Buffer& b = problem.buffers[static_cast<std::size_t>(comers[i])];
    for (; left < leavers.size(); ++left) {
      const Buffer& gone =
          problem.buffers[static_cast<std::size_t>(leavers[left])];
      if (gone.upper > b.lower) {
        break;
      }
      live -= round_up(gone.size, unit);
    }
    const std::int64_t rounded = round_up(b.size, unit);
    live += rounded;
    if (b.size > 0) {
      slacks.add({.rounding = rounded - b.size, .upper = b.upper});
    }
    const std::int64_t fixed_end =
        b.fixed >= 0 && b.size > 0 ? b.fixed + b.size : 0;
    const std::int64_t height =
        std::max(live - slacks.greatest(b.lower), fixed_end);
    if (height > best.height || i == 0) {
      best = {.height = height, .instant = b.lower};
    }
  }
  return best;
}

}  // namespace

LowerBound lower_bound(const Problem& problem) {
  return bound_of_merged(merge_aliases(problem).problem);
}

}  // namespace neap::planner
