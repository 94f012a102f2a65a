// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/placer.hpp"

#include <algorithm>

namespace neap::planner {
namespace {

std::int64_t align(std::int64_t offset, std::int64_t alignment) noexcept {
  // Most are 1 or offsets that are aligned already: no division then.
  if (alignment == 1) {
    return offset;
  }
  const std::int64_t over = offset % alignment;
  return over == 0 ? offset : offset + (alignment - over);
}

}  // namespace

Placer::Placer(const Timeline& timeline) : timeline_(&timeline) {
  for (std::size_t i = 0; i < timeline.items.size(); ++i) {
    if (timeline.items[i].fixed >= 0) {
      fixed_.push_back(static_cast<std::int32_t>(i));
    }
  }
  placed_.reserve(timeline.items.size());
}

std::int64_t Placer::place(std::span<const std::int32_t> order, Fit fit,
                           std::int64_t limit,
                           std::span<std::int64_t> offsets) noexcept {
  placed_.clear();
  if (!add_fixed()) {
    return kNoLimit;
  }
  std::int64_t height = placed_.empty() ? 0 : placed_.back().top;
  for (const Placed& p : placed_) {
    height = std::max(height, p.top);
  }
  for (const std::int32_t i : order) {
    const Item& item = timeline_->items[static_cast<std::size_t>(i)];
    std::int64_t& offset = offsets[static_cast<std::size_t>(i)];
    if (item.fixed >= 0) {
      offset = item.fixed;
      continue;
    }
    offset = fit == Fit::kLowest ? lowest(item) : tightest(item);
    height = std::max(height, offset + item.size);
    if (height > limit) {
      return kNoLimit;
    }
    add(item, offset);
  }
  return height > limit ? kNoLimit : height;
}

std::int64_t Placer::lowest(const Item& item) const noexcept {
  std::int64_t offset = 0;
  for (const Placed& p : placed_) {
    if (p.begin >= item.end || item.begin >= p.end) {
      continue;
    }
    if (p.offset - offset >= item.size) {
      break;
    }
    if (p.top > offset) {
      offset = align(p.top, item.alignment);
    }
  }
  return offset;
}

std::int64_t Placer::tightest(const Item& item) const noexcept {
  std::int64_t offset = 0;
  std::int64_t best = -1;
  std::int64_t best_gap = kNoLimit;
  for (const Placed& p : placed_) {
    if (p.begin >= item.end || item.begin >= p.end) {
      continue;
    }
    const std::int64_t gap = p.offset - offset;
    if (gap >= item.size && gap < best_gap) {
      best = offset;
      best_gap = gap;
    }
    if (p.top > offset) {
      offset = align(p.top, item.alignment);
    }
  }
  return best >= 0 ? best : offset;
}

void Placer::add(const Item& item, std::int64_t offset) noexcept {
  const auto at = std::upper_bound(
      placed_.begin(), placed_.end(), offset,
      [](std::int64_t value, const Placed& p) { return value < p.offset; });
  placed_.insert(at, Placed{.begin = item.begin,
                            .end = item.end,
                            .offset = offset,
                            .top = offset + item.size});
}

bool Placer::add_fixed() noexcept {
  for (const std::int32_t i : fixed_) {
    const Item& item = timeline_->items[static_cast<std::size_t>(i)];
    for (const Placed& p : placed_) {
      if (p.begin < item.end && item.begin < p.end &&
          p.offset < item.fixed + item.size && item.fixed < p.top) {
        return false;
      }
    }
    add(item, item.fixed);
  }
  return true;
}

}  // namespace neap::planner
