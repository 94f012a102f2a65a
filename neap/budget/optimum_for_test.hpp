// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Small problems, and the least price of a schedule by trying all: the shortest
// path over what may be in memory (Dijkstra, 1959).
#pragma once

#include <map>
#include <optional>
#include <queue>
#include <random>

#include "neap/budget/problem.hpp"

namespace neap::budget {

struct RandomShape {
  int calls = 7;
  int largest = 9;         // of a value
  bool has_limits = true;  // calls that run again until some call, or never
  bool has_take_overs = true;
  int outputs = 1;  // of a call at most
};

inline Problem random_problem(std::uint32_t seed, const RandomShape& shape) {
  std::mt19937 random(seed);
  const auto below = [&](int n) {
    return static_cast<std::int32_t>(random() % static_cast<unsigned>(n));
  };
  Problem problem;
  for (int c = 0; c < shape.calls; ++c) {
    Call call;
    const auto values = static_cast<int>(problem.values.size());
    for (int v = 0; v < values; ++v) {
      if (v + 1 == values ? below(8) > 0 : below(3) == 0) {
        call.reads.push_back(v);
      }
    }
    for (int k = 1 + below(shape.outputs); k > 0; --k) {
      call.makes.push_back(static_cast<std::int32_t>(problem.values.size()));
      problem.values.push_back(
          {.size = 1 + below(shape.largest), .outlives = below(9) == 0});
    }
    call.price = 1 + below(20);
    call.scratch = below(3) == 0 ? below(4) : 0;
    call.again_until = kAlways;
    if (shape.has_limits && below(5) == 0) {
      call.again_until = below(2) == 0 ? kNever : c + 1 + below(shape.calls);
    }
    if (shape.has_take_overs && !call.reads.empty() && below(2) == 0) {
      call.take_overs.push_back(
          {.made = call.makes[0],
           .read = call.reads[static_cast<std::size_t>(
               below(static_cast<int>(call.reads.size())))]});
    }
    problem.calls.push_back(std::move(call));
  }
  problem.values.back().outlives = true;
  return problem;
}

class Optimum {
 public:
  explicit Optimum(const Problem& problem) : problem_(problem) {}

  /// The least price within a target; nothing where no schedule is.
  std::optional<std::int64_t> price(std::int64_t target) {
    target_ = target;
    best_.clear();
    queue_ = {};
    offer(0, 0, 0);
    while (!queue_.empty()) {
      const auto [price, next, mask] = queue_.top();
      queue_.pop();
      if (price > best_[{next, mask}]) {
        continue;
      }
      if (next == problem_.calls.size() && has_all(mask)) {
        return price;
      }
      expand(price, next, mask);
    }
    return std::nullopt;
  }

 private:
  using Mask = std::uint32_t;
  struct State {
    std::int64_t price;
    std::size_t next;
    Mask mask;
    bool operator<(const State& other) const { return price > other.price; }
  };

  static Mask bit(std::int32_t v) {
    return Mask{1} << static_cast<unsigned>(v);
  }

  void offer(std::int64_t price, std::size_t next, Mask mask) {
    const auto [found, is_new] = best_.try_emplace({next, mask}, price);
    if (is_new || price < found->second) {
      found->second = price;
      queue_.push({price, next, mask});
    }
  }

  bool has_all(Mask mask) const {
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      if (problem_.values[v].outlives &&
          (mask & bit(static_cast<std::int32_t>(v))) == 0) {
        return false;
      }
    }
    return true;
  }

  std::int64_t sum(Mask mask) const {
    std::int64_t total = 0;
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      total += (mask & bit(static_cast<std::int32_t>(v))) != 0
                   ? problem_.values[v].size
                   : 0;
    }
    return total;
  }

  void expand(std::int64_t price, std::size_t next, Mask mask) {
    for (std::size_t v = 0; v < problem_.values.size(); ++v) {
      if ((mask & bit(static_cast<std::int32_t>(v))) != 0) {
        offer(price, next, mask & ~bit(static_cast<std::int32_t>(v)));
      }
    }
    for (std::size_t c = 0; c <= next && c < problem_.calls.size(); ++c) {
      const Call& call = problem_.calls[c];
      if (c<next&& static_cast<std::int64_t>(next)> call.again_until) {
        continue;
      }
      Mask reads = 0;
      Mask makes = 0;
      std::int64_t needed = sum(mask) + call.scratch;
      for (const std::int32_t v : call.reads) {
        reads |= bit(v);
      }
      for (const std::int32_t v : call.makes) {
        makes |= bit(v);
        needed += problem_.values[static_cast<std::size_t>(v)].size;
      }
      if ((reads & mask) != reads) {
        continue;
      }
      const std::int64_t cost = price + (c < next ? call.price : 0);
      const std::size_t then = next + (c == next ? 1 : 0);
      if (needed <= target_) {
        offer(cost, then, mask | makes);
      }
      take_over(call, cost, then, mask, makes, needed);
    }
  }

  // With one pair, the only number of them that random problems have.
  void take_over(const Call& call, std::int64_t cost, std::size_t then,
                 Mask mask, Mask makes, std::int64_t needed) {
    for (const TakeOver& pair : call.take_overs) {
      if ((mask & bit(pair.made)) != 0) {
        continue;
      }
      const std::int64_t saved =
          std::min(problem_.values[static_cast<std::size_t>(pair.made)].size,
                   problem_.values[static_cast<std::size_t>(pair.read)].size);
      if (needed - saved <= target_) {
        offer(cost, then, (mask | makes) & ~bit(pair.read));
      }
    }
  }

  const Problem& problem_;
  std::int64_t target_ = 0;
  std::map<std::pair<std::size_t, Mask>, std::int64_t> best_;
  std::priority_queue<State> queue_;
};

}  // namespace neap::budget
