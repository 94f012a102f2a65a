// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/greedy.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "neap/planner/placer.hpp"

namespace neap::planner {
namespace {

// What an order is by; the largest comes first.
using Key = double (*)(const Item&, std::int64_t pressure) noexcept;

struct Order {
  const char* lowest;    // the method's name with each fit
  const char* tightest;  //
  Key first;
  Key second;  // among equals
};

double duration(const Item& i, std::int64_t /*pressure*/) noexcept {
  return i.end - i.begin;
}
double size(const Item& i, std::int64_t /*pressure*/) noexcept {
  return static_cast<double>(i.size);
}
double area(const Item& i, std::int64_t /*pressure*/) noexcept {
  return static_cast<double>(i.size) * (i.end - i.begin);
}
double earliest(const Item& i, std::int64_t /*pressure*/) noexcept {
  return -i.begin;
}
double latest(const Item& i, std::int64_t /*pressure*/) noexcept {
  return i.end;
}
double crowd(const Item& /*i*/, std::int64_t pressure) noexcept {
  return static_cast<double>(pressure);
}

constexpr std::array kOrders = {
    Order{"lowest by duration", "tightest by duration", duration, size},
    Order{"lowest by size", "tightest by size", size, duration},
    Order{"lowest by area", "tightest by area", area, duration},
    Order{"lowest by crowd", "tightest by crowd", crowd, duration},
    Order{"lowest by crowd and size", "tightest by crowd and size", crowd,
          size},
    Order{"lowest by begin", "tightest by begin", earliest, size},
    Order{"lowest by end", "tightest by end", latest, size},
    Order{"lowest by begin and duration", "tightest by begin and duration",
          earliest, duration},
};

// For each item, how much lives in the most crowded section of its life.
memory::Vector<std::int64_t> pressures(const Timeline& timeline) {
  const auto sections = static_cast<std::size_t>(timeline.sections);
  // Level k of a sparse table: the highest of 2^k sections from each on.
  memory::Vector<memory::Vector<std::int64_t>> highest(1);
  highest[0].assign(sections + 1, 0);
  for (const Item& item : timeline.items) {
    highest[0][static_cast<std::size_t>(item.begin)] += item.size;
    highest[0][static_cast<std::size_t>(item.end)] -= item.size;
  }
  std::partial_sum(highest[0].begin(), highest[0].end(), highest[0].begin());
  for (std::size_t width = 1; 2 * width <= sections; width *= 2) {
    const memory::Vector<std::int64_t>& last = highest.back();
    memory::Vector<std::int64_t> next(sections - 2 * width + 1);
    for (std::size_t i = 0; i < next.size(); ++i) {
      next[i] = std::max(last[i], last[i + width]);
    }
    highest.push_back(std::move(next));
  }
  memory::Vector<std::int64_t> result;
  result.reserve(timeline.items.size());
  for (const Item& item : timeline.items) {
    const auto span = static_cast<std::size_t>(item.end - item.begin);
    std::size_t level = 0;
    while ((std::size_t{2} << level) <= span) {
      ++level;
    }
    const auto& row = highest[level];
    result.push_back(std::max(
        row[static_cast<std::size_t>(item.begin)],
        row[static_cast<std::size_t>(item.end) - (std::size_t{1} << level)]));
  }
  return result;
}

class Portfolio {
 public:
  Portfolio(const Timeline& timeline, std::int64_t enough)
      : timeline_(timeline),
        enough_(enough),
        placer_(timeline),
        pressures_(pressures(timeline)),
        order_(timeline.items.size()),
        offsets_(timeline.items.size()) {
    best_.offsets.reserve(timeline.items.size());
  }

  Plan run(Effort& effort) {
    // Each order once in the lowest gaps, which does best where lives are
    // nested, as in a training step; then again in the tightest.
    for (const Fit fit : {Fit::kLowest, Fit::kTightest}) {
      for (const Order& order : kOrders) {
        sort(order);
        try_order(fit == Fit::kLowest ? order.lowest : order.tightest, fit);
        effort.spend(static_cast<std::int64_t>(order_.size()));
        if (best_.height <= enough_ || effort.is_over()) {
          return std::move(best_);
        }
      }
    }
    return std::move(best_);
  }

 private:
  void sort(const Order& order) {
    struct Ranked {
      double first;
      double second;
      std::int32_t item;
    };
    memory::Vector<Ranked> ranked;
    ranked.reserve(order_.size());
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Item& item = timeline_.items[i];
      ranked.push_back({.first = order.first(item, pressures_[i]),
                        .second = order.second(item, pressures_[i]),
                        .item = static_cast<std::int32_t>(i)});
    }
    std::sort(
        ranked.begin(), ranked.end(), [](const Ranked& a, const Ranked& b) {
          if (a.first != b.first) {
            return a.first > b.first;
          }
          return a.second != b.second ? a.second > b.second : a.item < b.item;
        });
    for (std::size_t i = 0; i < order_.size(); ++i) {
      order_[i] = ranked[i].item;
    }
  }

  void try_order(const char* name, Fit fit) {
    const std::int64_t height =
        placer_.place(order_, fit, best_.height - 1, offsets_);
    if (height < best_.height) {
      best_.height = height;
      best_.method = name;
      best_.offsets = offsets_;
    }
  }

  const Timeline& timeline_;
  std::int64_t enough_;
  Placer placer_;
  memory::Vector<std::int64_t> pressures_;
  memory::Vector<std::int32_t> order_;
  memory::Vector<std::int64_t> offsets_;
  Plan best_;
};

}  // namespace

Plan greedy(const Timeline& timeline, std::int64_t enough, Effort& effort) {
  return Portfolio(timeline, enough).run(effort);
}

}  // namespace neap::planner
