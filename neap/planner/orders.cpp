// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/orders.hpp"

#include <algorithm>
#include <array>
#include <numeric>

namespace neap::planner {
namespace {

// The key that an order is by; the largest comes first.
using Key = double (*)(const Item&, std::int64_t crowd) noexcept;

double duration(const Item& i, std::int64_t /*crowd*/) noexcept {
  return i.end - i.begin;
}
double size(const Item& i, std::int64_t /*crowd*/) noexcept {
  return static_cast<double>(i.size);
}
double area(const Item& i, std::int64_t /*crowd*/) noexcept {
  return static_cast<double>(i.size) * (i.end - i.begin);
}
double earliest(const Item& i, std::int64_t /*crowd*/) noexcept {
  return -i.begin;
}
double latest(const Item& i, std::int64_t /*crowd*/) noexcept {
  return i.end;
}
double crowd(const Item& /*i*/, std::int64_t crowd) noexcept {
  return static_cast<double>(crowd);
}

struct Keys {
  Key first;
  Key second;  // among equals
};
constexpr std::array<Keys, kOrders> kKeys = {{{duration, size},
                                              {size, duration},
                                              {area, duration},
                                              {crowd, duration},
                                              {crowd, size},
                                              {earliest, size},
                                              {latest, size},
                                              {earliest, duration}}};

struct Ranked {
  double first;
  double second;
  std::int32_t item;
  bool operator<(const Ranked& other) const noexcept {
    if (first != other.first) {
      return first > other.first;
    }
    return second != other.second ? second > other.second : item < other.item;
  }
};

using Row = memory::Vector<std::int64_t>;

// Level k of a sparse table: the highest of 2^k sections from each on.
memory::Vector<Row> highest_runs(Row sums) {
  memory::Vector<Row> levels;
  levels.push_back(std::move(sums));
  for (std::size_t width = 1; 2 * width <= levels[0].size(); width *= 2) {
    const Row& last = levels.back();
    Row next(last.size() - width);
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = std::max(last[i], last[i + width]);
    }
    levels.push_back(std::move(next));
  }
  return levels;
}

}  // namespace

Orders::Orders(const Timeline& timeline) : timeline_(&timeline) {
  Row sums(static_cast<std::size_t>(timeline.sections) + 1, 0);
  for (const Item& item : timeline.items) {
    sums[static_cast<std::size_t>(item.begin)] += item.size;
    sums[static_cast<std::size_t>(item.end)] -= item.size;
  }
  std::partial_sum(sums.begin(), sums.end(), sums.begin());
  const memory::Vector<Row> levels = highest_runs(std::move(sums));
  crowds_.reserve(timeline.items.size());
  for (const Item& item : timeline.items) {
    const auto span = static_cast<std::size_t>(item.end - item.begin);
    std::size_t level = 0;
    while ((std::size_t{2} << level) <= span) {
      ++level;
    }
    const std::size_t width = std::size_t{1} << level;
    crowds_.push_back(
        std::max(levels[level][static_cast<std::size_t>(item.begin)],
                 levels[level][static_cast<std::size_t>(item.end) - width]));
  }
}

void Orders::sort(Order by, std::span<std::int32_t> order) const {
  const Keys& keys = kKeys[static_cast<std::size_t>(by)];
  memory::Vector<Ranked> ranked;
  ranked.reserve(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Item& item = timeline_->items[i];
    ranked.push_back({.first = keys.first(item, crowds_[i]),
                      .second = keys.second(item, crowds_[i]),
                      .item = static_cast<std::int32_t>(i)});
  }
  std::sort(ranked.begin(), ranked.end());
  std::transform(ranked.begin(), ranked.end(), order.begin(),
                 [](const Ranked& r) { return r.item; });
}

}  // namespace neap::planner
