// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/greedy.hpp"

#include <algorithm>
#include <array>

namespace neap::planner {
namespace {

enum class Way : std::uint8_t { kLowest, kTightest, kTwoEnded };

struct Try {
  Order order;
  Way way;
  const char* method;
};

// The best order for nested lives, as of a training step, comes first.
constexpr std::array kTries = {
    Try{Order::kDuration, Way::kLowest, "lowest by duration"},
    Try{Order::kDuration, Way::kTwoEnded, "two-ended by duration"},
    Try{Order::kSize, Way::kLowest, "lowest by size"},
    Try{Order::kCrowd, Way::kLowest, "lowest by crowd"},
    Try{Order::kArea, Way::kLowest, "lowest by area"},
    Try{Order::kBegin, Way::kLowest, "lowest by begin"},
    Try{Order::kEnd, Way::kLowest, "lowest by end"},
    Try{Order::kCrowdSize, Way::kLowest, "lowest by crowd and size"},
    Try{Order::kBeginDuration, Way::kLowest, "lowest by begin and duration"},
    Try{Order::kDuration, Way::kTightest, "tightest by duration"},
    Try{Order::kSize, Way::kTightest, "tightest by size"},
    Try{Order::kCrowd, Way::kTightest, "tightest by crowd"},
    Try{Order::kArea, Way::kTightest, "tightest by area"},
    Try{Order::kBegin, Way::kTightest, "tightest by begin"},
    Try{Order::kEnd, Way::kTightest, "tightest by end"},
    Try{Order::kCrowdSize, Way::kTightest, "tightest by crowd and size"},
};

}  // namespace

memory::Vector<Fit> two_ended(const Timeline& timeline) {
  memory::Vector<Fit> fits;
  fits.reserve(timeline.items.size());
  for (const Item& item : timeline.items) {
    fits.push_back(item.begin > timeline.sections / 2 ? Fit::kHighest
                                                      : Fit::kLowest);
  }
  return fits;
}

Plan greedy(const Timeline& timeline, const Orders& orders, std::int64_t enough,
            Effort& effort) {
  const std::size_t count = timeline.items.size();
  const memory::Vector<Fit> from_two_ends = two_ended(timeline);
  memory::Vector<Fit> same(count);
  memory::Vector<std::int32_t> order(count);
  Plan best;
  best.offsets.resize(count);
  Placer placer(timeline);
  for (const Try& each : kTries) {
    const bool has_plan = best.height < kNoLimit;
    if (!placer.is_possible() ||
        (has_plan && (best.height <= enough || effort.is_over()))) {
      break;
    }
    orders.sort(each.order, order);
    const bool is_two_ended = each.way == Way::kTwoEnded;
    std::fill(same.begin(), same.end(),
              each.way == Way::kTightest ? Fit::kTightest : Fit::kLowest);
    // Items that hang from the ceiling want one as low as can be.
    const std::int64_t limit =
        is_two_ended ? std::min(enough, best.height - 1) : best.height - 1;
    if (limit >= placer.fixed_height() &&
        placer.place(order, is_two_ended ? from_two_ends : same, limit, 0) ==
            count) {
      best.height = placer.height();
      best.method = each.method;
      placer.write_offsets(best.offsets);
    }
    effort.spend(placer.take_steps());
  }
  if (best.height == kNoLimit) {
    best.offsets.clear();
  }
  return best;
}

}  // namespace neap::planner
