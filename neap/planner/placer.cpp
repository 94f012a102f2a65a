// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/placer.hpp"

#include <algorithm>

#include "neap/planner/round_up.hpp"

namespace neap::planner {
namespace {

constexpr std::int64_t kLooksPerStep = 100;

// Fewer items than that are looked at one by one.
constexpr std::size_t kManyItems = 4096;
// An item is listed in every block that it lives in: more of them would find
// less and take more memory.
constexpr std::int32_t kBlocks = 16;

}  // namespace

Placer::Placer(const Timeline& timeline) : timeline_(&timeline) {
  placed_.reserve(timeline.items.size());
  if (timeline.items.size() >= kManyItems) {
    make_blocks();
  }
  add_fixed();
}

void Placer::make_blocks() {
  block_sections_ = (timeline_->sections + kBlocks - 1) / kBlocks;
  memory::Vector<std::size_t> counts(kBlocks, 0);
  for (const Item& item : timeline_->items) {
    for (std::size_t b = block_at(item.begin); b <= block_at(item.end - 1);
         ++b) {
      ++counts[b];
    }
  }
  blocks_.resize(kBlocks);
  for (std::size_t b = 0; b < counts.size(); ++b) {
    blocks_[b].reserve(counts[b]);
  }
}

// A list that has all placed items which the item meets.
const Placer::PlacedItems& Placer::near(const Item& item) const noexcept {
  const std::size_t block = block_at(item.begin);
  return !blocks_.empty() && block == block_at(item.end - 1) ? blocks_[block]
                                                             : placed_;
}

void Placer::add_fixed() {
  for (std::size_t i = 0; i < timeline_->items.size(); ++i) {
    const Item& item = timeline_->items[i];
    if (item.fixed < 0) {
      continue;
    }
    const std::int64_t top = item.fixed + item.size;
    for (const Placed& p : placed_) {
      if (p.begin < item.end && item.begin < p.end && p.offset < top &&
          item.fixed < p.top) {
        is_possible_ = false;
      }
    }
    add(static_cast<std::int32_t>(i), item.fixed, static_cast<std::size_t>(-1));
    fixed_height_ = std::max(fixed_height_, top);
  }
}

std::size_t Placer::place(std::span<const std::int32_t> order,
                          std::span<const Fit> fits, std::int64_t limit,
                          std::size_t kept) noexcept {
  const auto goes = [kept](const Placed& p) {
    return p.position >= static_cast<std::int32_t>(kept);
  };
  std::erase_if(placed_, goes);
  for (PlacedItems& block : blocks_) {
    std::erase_if(block, goes);
  }
  for (std::size_t position = kept; position < order.size(); ++position) {
    const std::int32_t i = order[position];
    const Item& item = timeline_->items[static_cast<std::size_t>(i)];
    if (item.fixed >= 0) {
      continue;
    }
    ++steps_;
    looks_ += static_cast<std::int64_t>(placed_.size());
    const PlacedItems& among = near(item);
    std::int64_t offset = 0;
    switch (fits[static_cast<std::size_t>(i)]) {
      case Fit::kLowest:
        offset = lowest(among, item);
        break;
      case Fit::kTightest:
        offset = tightest(among, item);
        break;
      case Fit::kHighest:
        offset = highest(among, item, limit);
        break;
    }
    if (offset < 0 || offset > limit - item.size) {
      return position;
    }
    add(i, offset, position);
  }
  return order.size();
}

std::int64_t Placer::lowest(const PlacedItems& among,
                            const Item& item) noexcept {
  std::int64_t offset = 0;
  for (const Placed& p : among) {
    if (p.begin >= item.end || item.begin >= p.end) {
      continue;
    }
    if (p.offset - offset >= item.size) {
      break;
    }
    if (p.top > offset) {
      offset = round_up(p.top, item.alignment);
    }
  }
  return offset;
}

std::int64_t Placer::tightest(const PlacedItems& among,
                              const Item& item) noexcept {
  std::int64_t offset = 0;
  std::int64_t best = -1;
  std::int64_t best_gap = kNoLimit;
  for (const Placed& p : among) {
    if (p.begin >= item.end || item.begin >= p.end) {
      continue;
    }
    const std::int64_t gap = p.offset - offset;
    if (gap >= item.size && gap < best_gap) {
      best = offset;
      best_gap = gap;
    }
    if (p.top > offset) {
      offset = round_up(p.top, item.alignment);
    }
  }
  return best >= 0 ? best : offset;
}

std::int64_t Placer::highest(const PlacedItems& among, const Item& item,
                             std::int64_t limit) noexcept {
  std::int64_t offset = 0;
  std::int64_t best = -1;
  const auto look = [&](std::int64_t end) {
    if (end - offset >= item.size) {
      const std::int64_t highest = end - item.size;
      best = highest - highest % item.alignment;
    }
  };
  for (const Placed& p : among) {
    if (p.begin >= item.end || item.begin >= p.end) {
      continue;
    }
    look(p.offset);
    if (p.top > offset) {
      offset = round_up(p.top, item.alignment);
    }
  }
  look(limit);
  return best;
}

void Placer::add(std::int32_t item, std::int64_t offset,
                 std::size_t position) noexcept {
  const Item& it = timeline_->items[static_cast<std::size_t>(item)];
  const Placed added{.begin = it.begin,
                     .end = it.end,
                     .offset = offset,
                     .top = offset + it.size,
                     .item = item,
                     .position = static_cast<std::int32_t>(position)};
  const auto insert_into = [&](PlacedItems& list) {
    const auto at = std::upper_bound(
        list.begin(), list.end(), offset,
        [](std::int64_t value, const Placed& p) { return value < p.offset; });
    list.insert(at, added);
  };
  insert_into(placed_);
  for (std::size_t b = block_at(it.begin);
       !blocks_.empty() && b <= block_at(it.end - 1); ++b) {
    insert_into(blocks_[b]);
  }
}

std::int64_t Placer::height() const noexcept {
  std::int64_t height = 0;
  for (const Placed& p : placed_) {
    height = std::max(height, p.top);
  }
  return height;
}

void Placer::write_offsets(std::span<std::int64_t> offsets) const noexcept {
  for (const Placed& p : placed_) {
    offsets[static_cast<std::size_t>(p.item)] = p.offset;
  }
}

std::int64_t Placer::take_steps() noexcept {
  const std::int64_t steps = steps_ + looks_ / kLooksPerStep;
  steps_ = 0;
  looks_ %= kLooksPerStep;
  return steps;
}

}  // namespace neap::planner
