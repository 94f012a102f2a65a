// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/local_search.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace neap::planner {
namespace {

// xorshift64 (Marsaglia, 2003): a few instructions a number.
class Random {
 public:
  explicit Random(std::uint64_t seed) noexcept
      : state_(seed * 0x9E3779B97F4A7C15U + 0x2545F4914F6CDD1DU) {}
  std::uint32_t below(std::size_t n) noexcept {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<std::uint32_t>(((state_ >> 32) * n) >> 32);
  }

 private:
  std::uint64_t state_;
};

// The order that an episode begins with.
struct Start {
  Order order;
  bool is_two_ended;
};
constexpr std::array kStarts = {
    Start{Order::kDuration, true},  Start{Order::kSize, false},
    Start{Order::kDuration, false}, Start{Order::kSize, true},
    Start{Order::kArea, false},     Start{Order::kCrowdSize, false}};

class Search {
 public:
  Search(const Timeline& timeline, const Orders& orders, Plan best,
         std::int64_t enough, std::uint64_t seed)
      : timeline_(timeline),
        orders_(orders),
        best_(std::move(best)),
        enough_(enough),
        random_(seed),
        placer_(timeline),
        order_(timeline.items.size()),
        from_two_ends_(two_ended(timeline)),
        from_below_(timeline.items.size(), Fit::kLowest) {}

  Plan run(std::int64_t steps, Effort& effort) {
    std::int64_t patience = 30 * static_cast<std::int64_t>(order_.size());
    for (std::size_t round = 0; best_.height > enough_ && steps > 0; ++round) {
      const std::int64_t before = effort.spent();
      const std::int64_t height = best_.height;
      episode(kStarts[round % kStarts.size()], std::min(patience, steps),
              effort);
      steps -= std::max<std::int64_t>(effort.spent() - before, 1);
      if (effort.is_over()) {
        break;
      }
      if (round % kStarts.size() == kStarts.size() - 1) {
        patience *= 2;
      }
      // A step too steep for one start may be too steep for all.
      share_ = best_.height < height ? std::min(1.0, 2 * share_) : share_ / 2;
    }
    return std::move(best_);
  }

 private:
  // Next height to reach: a share of the way to what is enough.
  std::int64_t next_limit() const noexcept {
    const auto gap = static_cast<double>(best_.height - enough_);
    const auto step = static_cast<std::int64_t>(gap * share_);
    return best_.height - std::max<std::int64_t>(step, 1);
  }

  void episode(const Start& start, std::int64_t patience, Effort& effort) {
    orders_.sort(start.order, order_);
    const memory::Vector<Fit>& fits =
        start.is_two_ended ? from_two_ends_ : from_below_;
    std::int64_t limit = next_limit();
    if (limit < placer_.fixed_height()) {
      limit = best_.height - 1;
    }
    std::int64_t left = patience;
    std::size_t kept = 0;
    while (left > 0 && limit >= placer_.fixed_height()) {
      const std::size_t stuck = placer_.place(order_, fits, limit, kept);
      const std::int64_t spent = placer_.take_steps() + 1;
      left -= spent;
      if (stuck == order_.size()) {
        best_.height = placer_.height();
        best_.method = "local search";
        placer_.write_offsets(best_.offsets);
        if (best_.height <= enough_) {
          effort.spend(spent);
          return;
        }
        limit = next_limit();
        left = patience;
        kept = 0;
      } else {
        kept = promote(stuck);
      }
      if (!effort.spend(spent)) {
        return;
      }
    }
  }

  // Moves the item at `stuck` ahead of one of those before it that it meets,
  // mostly any of them, sometimes one of the last few. RETURNS: where it is.
  std::size_t promote(std::size_t stuck) noexcept {
    const std::int32_t moved = order_[stuck];
    const Item& item = timeline_.items[static_cast<std::size_t>(moved)];
    const std::size_t reach =
        random_.below(10) < 6 ? order_.size() : std::size_t{8};
    std::size_t met = 0;
    std::size_t to = stuck;
    for (std::size_t at = stuck; at-- > 0 && met < reach;) {
      if (timeline_.items[static_cast<std::size_t>(order_[at])].meets(item)) {
        ++met;
        to = random_.below(met) == 0 ? at : to;
      }
    }
    std::copy_backward(order_.begin() + static_cast<std::ptrdiff_t>(to),
                       order_.begin() + static_cast<std::ptrdiff_t>(stuck),
                       order_.begin() + static_cast<std::ptrdiff_t>(stuck) + 1);
    order_[to] = moved;
    return to;
  }

  const Timeline& timeline_;
  const Orders& orders_;
  Plan best_;
  std::int64_t enough_;
  Random random_;
  Placer placer_;
  memory::Vector<std::int32_t> order_;
  memory::Vector<Fit> from_two_ends_;
  memory::Vector<Fit> from_below_;
  double share_ = 0.5;
};

}  // namespace

Plan improve(const Timeline& timeline, const Orders& orders, Plan best,
             const SearchGoal& goal, Effort& effort) {
  return Search(timeline, orders, std::move(best), goal.enough, goal.seed)
      .run(goal.steps, effort);
}

}  // namespace neap::planner
