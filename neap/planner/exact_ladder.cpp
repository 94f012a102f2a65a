// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/exact_ladder.hpp"

#include <algorithm>
#include <bit>

namespace neap::planner {
namespace {

constexpr std::int64_t kRun = 1000;           // steps of the shortest run, ...
constexpr std::int64_t kRunAPiece = 3;        // ... that many a piece at least
constexpr std::int64_t kMostFirst = 200'000;  // steps at the lower bound
constexpr std::int64_t kRound = 20'000;       // steps a rung, first round

// Sums of two heights must be numbers.
constexpr std::int64_t kHighest = kNoLimit / 4;

// 1 1 2 1 1 2 4 1 1 2 1 1 2 4 8 ...; `turn` counts from 0.
std::int64_t luby(std::uint64_t turn) noexcept {
  std::uint64_t k = turn + 1;
  while (!std::has_single_bit(k + 1)) {
    k -= std::bit_floor(k) - 1;
  }
  return static_cast<std::int64_t>((k + 1) / 2);
}

}  // namespace

ExactLadder::ExactLadder(const Timeline& timeline, Effort& effort)
    : timeline_(&timeline),
      effort_(&effort),
      sections_(timeline),
      search_(sections_),
      low_(sections_.lower_bound()) {}

Plan ExactLadder::climb(const Bounds& bounds) {
  const std::int64_t unit = sections_.unit();
  const std::int64_t stacked = sections_.stacked();
  if (stacked > kHighest) {
    high_ = kNoLimit;  // nothing is settled
    return {};
  }
  // Heights are multiples of the unit, and one above the other always fits.
  high_ = bounds.known / unit + (bounds.known % unit != 0 ? 1 : 0);
  is_high_known_ = high_ <= stacked;
  high_ = std::min(high_, stacked + 1);
  const std::int64_t enough = bounds.enough / unit;
  const std::int64_t first = std::max(low_, bounds.first / unit);
  if (low_ < high_) {
    ask(std::min(first, high_ - 1), std::min(kMostFirst, effort_->left() / 4));
  }
  for (std::int64_t steps = kRound; low_ < high_ && high_ > enough + 1;
       steps *= 2) {
    if (effort_->is_over()) {
      break;
    }
    round(std::max(low_, enough), steps);
  }
  return std::move(best_);
}

// A way down: every rung that stays undecided counts as refuted until the
// round is over.
void ExactLadder::round(std::int64_t enough, std::int64_t steps) {
  std::int64_t low = enough;
  std::int64_t leap = std::max<std::int64_t>(low / 64, 1);
  while (low < high_ && !effort_->is_over()) {
    std::int64_t target = low + (high_ - 1 - low) / 2;
    if (!is_high_known_) {
      target = low + std::min(leap, high_ - 1 - low);
      leap *= 2;
    }
    if (ask(target, steps) != Answer::kFound) {
      low = std::max(low_, target + 1);
    }
  }
}

ExactLadder::Answer ExactLadder::ask(std::int64_t target, std::int64_t steps) {
  const auto pieces = static_cast<std::int64_t>(sections_.pieces().size());
  const std::int64_t run = std::max(kRun, kRunAPiece * pieces);
  while (steps > 0 && !effort_->is_over()) {
    const std::uint64_t turn = runs_ / kStyles.size();
    const Style& style = kStyles[runs_ % kStyles.size()];
    const std::int64_t some = std::min(steps, run * luby(turn));
    steps -= some;
    ++runs_;
    const Answer answer = search_.run(target, style, turn, some, *effort_);
    if (answer == Answer::kFound) {
      take();
    } else if (answer == Answer::kNone) {
      low_ = std::max(low_, target + 1);
    }
    if (answer != Answer::kUnsure) {
      return answer;
    }
  }
  return Answer::kUnsure;
}

void ExactLadder::take() {
  best_.offsets.resize(timeline_->items.size());
  best_.height = 0;
  best_.method = "exact";
  for (std::size_t i = 0; i < best_.offsets.size(); ++i) {
    best_.offsets[i] =
        search_.offset(static_cast<std::int32_t>(i)) * sections_.unit();
    best_.height =
        std::max(best_.height, best_.offsets[i] + timeline_->items[i].size);
  }
  high_ = best_.height / sections_.unit();
  is_high_known_ = true;
}

}  // namespace neap::planner
