// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/exact_sections.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "neap/planner/round_up.hpp"

namespace neap::planner {
namespace {

// Offsets are sums of sizes, rounded to alignments or begun at a fixed one:
// what divides all of these divides every offset worth trying.
std::int64_t common_unit(const Timeline& timeline) {
  std::int64_t unit = 0;
  for (const Item& item : timeline.items) {
    unit = std::gcd(unit, item.size);
    if (item.alignment > 1) {
      unit = std::gcd(unit, item.alignment);
    }
    if (item.fixed > 0) {
      unit = std::gcd(unit, item.fixed);
    }
  }
  return std::max<std::int64_t>(unit, 1);
}

}  // namespace

Sections::Sections(const Timeline& timeline) : unit_(common_unit(timeline)) {
  fill_pieces(timeline);
  find_twins();
  fill_sections(timeline.sections);
}

void Sections::fill_pieces(const Timeline& timeline) {
  std::int64_t grain = 0;
  pieces_.reserve(timeline.items.size());
  for (const Item& item : timeline.items) {
    const std::int64_t alignment =
        item.alignment > 1 ? item.alignment / unit_ : 1;
    const std::int64_t fixed = item.fixed >= 0 ? item.fixed / unit_ : -1;
    grain = std::gcd(grain, fixed >= 0 ? fixed : alignment);
    pieces_.push_back({.range = {item.begin, item.end},
                       .size = item.size / unit_,
                       .alignment = alignment,
                       .fixed = fixed});
  }
  grain_ = std::max<std::int64_t>(grain, 1);
  std::int64_t highest = 0;
  for (Piece& piece : pieces_) {
    const std::int64_t size = round_up(piece.size, grain_);
    piece.padding = size - piece.size;
    piece.size = size;
    lower_bound_ = std::max(lower_bound_, piece.fixed + size - piece.padding);
    highest = std::max(highest, piece.fixed + size);
    stacked_ += piece.fixed < 0 ? size + piece.alignment : 0;
  }
  stacked_ += highest;
}

void Sections::find_twins() {
  const auto key = [&](std::int32_t i) {
    const Piece& p = piece(i);
    return std::tuple(p.range.begin, p.range.end, p.size, p.padding,
                      p.alignment);
  };
  memory::Vector<std::int32_t> order;
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    if (pieces_[i].fixed < 0) {
      order.push_back(static_cast<std::int32_t>(i));
    }
  }
  std::sort(order.begin(), order.end(), [&](std::int32_t a, std::int32_t b) {
    return key(a) != key(b) ? key(a) < key(b) : a < b;
  });
  for (std::size_t k = 1; k < order.size(); ++k) {
    if (key(order[k - 1]) == key(order[k])) {
      pieces_[static_cast<std::size_t>(order[k])].twin = order[k - 1];
    }
  }
}

void Sections::fill_sections(std::int32_t sections) {
  const auto count = static_cast<std::size_t>(sections);
  live_begin_.assign(count + 1, 0);
  total_.assign(count, 0);
  padding_.assign(count, 0);
  first_after_.assign(count + 1, 0);
  for (const Piece& piece : pieces_) {
    ++first_after_[static_cast<std::size_t>(piece.range.begin)];
    for (std::int32_t s = piece.range.begin; s < piece.range.end; ++s) {
      const auto at = static_cast<std::size_t>(s);
      ++live_begin_[at + 1];
      total_[at] += piece.size;
      padding_[at] = std::max(padding_[at], piece.padding);
    }
  }
  std::partial_sum(first_after_.begin(), first_after_.end(),
                   first_after_.begin());
  std::partial_sum(live_begin_.begin(), live_begin_.end(), live_begin_.begin());
  live_.resize(live_begin_.back());
  memory::Vector<std::size_t> next(live_begin_);
  places_.reserve(live_.size());
  place_begin_.reserve(pieces_.size());
  for (std::size_t i = 0; i < pieces_.size(); ++i) {
    const Range range = pieces_[i].range;
    place_begin_.push_back(places_.size());
    for (std::int32_t s = range.begin; s < range.end; ++s) {
      const auto at = static_cast<std::size_t>(s);
      places_.push_back(static_cast<std::uint32_t>(next[at] - live_begin_[at]));
      live_[next[at]++] = static_cast<std::int32_t>(i);
    }
  }
  for (std::size_t s = 0; s < count; ++s) {
    lower_bound_ = std::max(lower_bound_, total_[s] - padding_[s]);
  }
}

}  // namespace neap::planner
