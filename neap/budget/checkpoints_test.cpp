// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/checkpoints.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <queue>
#include <tuple>

namespace neap::budget {
namespace {

std::int64_t binomial(std::int64_t n, std::int64_t k) {
  std::int64_t out = 1;
  for (std::int64_t i = 1; i <= k; ++i) {
    out = out * (n - k + i) / i;
  }
  return out;
}

// Runs of stages that are not kept when `count` are reversed with so many
// places for states, that of the first among them: Griewank and Walther (2000),
// t(l, s) = r l - b(s + 1, r - 1) with the least r for which b(s, r) >= l,
// where b(s, r) = binomial(s + r, s).
std::int64_t revolve(std::int64_t count, std::int64_t states) {
  std::int64_t r = 0;
  while (binomial(states + r, states) < count) {
    ++r;
  }
  return r == 0 ? 0 : r * count - binomial(states + r, states + 1);
}

// The least runs by trying all: what is in memory (bits of states and of
// residuals), the stage that runs next, and how many are left to reverse.
class Optimum {
 public:
  Optimum(const EqualStages& stages, std::int32_t memory)
      : stages_(stages), memory_(memory) {}

  std::int32_t runs() {
    offer(0, {0, 0, 0, stages_.count});
    while (!queue_.empty()) {
      const auto [cost, state] = queue_.top();
      queue_.pop();
      if (-cost > best_[state]) {
        continue;
      }
      if (std::get<3>(state) == 0) {
        return -cost;
      }
      expand(-cost, state);
    }
    return Checkpoints::kImpossible;
  }

 private:
  // States and residuals that are kept, the stage that is next, stages left.
  using State = std::tuple<unsigned, unsigned, std::int32_t, std::int32_t>;

  static unsigned bit(std::int32_t i) { return 1U << static_cast<unsigned>(i); }
  std::int32_t sum(unsigned states, unsigned residuals) const {
    return std::popcount(states) * stages_.state +
           std::popcount(residuals) * stages_.residual;
  }
  void offer(std::int32_t cost, const State& state) {
    if (sum(std::get<0>(state), std::get<1>(state)) > memory_) {
      return;
    }
    const auto [found, is_new] = best_.try_emplace(state, cost);
    if (is_new || cost < found->second) {
      found->second = cost;
      queue_.emplace(-cost, state);
    }
  }
  void expand(std::int32_t cost, const State& state) {
    const auto [states, residuals, next, left] = state;
    if (next < left) {
      offer(cost + 1, {states, residuals, next + 1, left});
      offer(cost + 1, {states, residuals | bit(next), next + 1, left});
      offer(cost, {states | bit(next), residuals, next, left});
    }
    offer(cost, {states, residuals, 0, left});  // the first state is kept
    for (std::int32_t i = 0; i < stages_.count; ++i) {
      if ((states & bit(i)) != 0) {
        offer(cost, {states, residuals, i, left});
        offer(cost, {states & ~bit(i), residuals, next, left});
      }
    }
    if ((residuals & bit(left - 1)) != 0) {
      offer(cost, {states, residuals & ~bit(left - 1), next, left - 1});
    }
  }

  EqualStages stages_;
  std::int32_t memory_;
  std::map<State, std::int32_t> best_;
  std::priority_queue<std::pair<std::int32_t, State>> queue_;
};

TEST(CheckpointsTest, OneStageAtATimeTakesTheRunsOfRevolve) {
  constexpr std::int32_t kMuch = 100;
  for (const std::int32_t count : {1, 2, 3, 10, 37, 64, 100}) {
    const Checkpoints found({.count = count, .residual = kMuch, .state = 1},
                            kMuch + 20);
    for (std::int32_t more = 0; more < 20; ++more) {
      EXPECT_EQ(found.runs(kMuch + more), count + revolve(count, more + 1))
          << count << " stages, " << more << " states beside the first";
    }
  }
}

// Up to five stages nothing is better; of six, once in a while, a residual that
// is kept across a checkpoint's end saves a run.
TEST(CheckpointsTest, TheRunsAreTheLeastOfTryingAll) {
  for (const auto& [residual, state] :
       {std::pair{1, 1}, {2, 1}, {3, 1}, {3, 2}, {4, 3}, {1, 2}}) {
    for (std::int32_t count = 1; count <= 6; ++count) {
      const EqualStages stages{count, residual, state};
      const Checkpoints found(stages, residual * count);
      for (std::int32_t memory = 0; memory <= residual * count; ++memory) {
        const std::int32_t least = Optimum(stages, memory).runs();
        EXPECT_GE(found.runs(memory), least);
        EXPECT_LE(found.runs(memory), least + (count < 6 ? 0 : 1))
            << count << " stages of " << residual << " and " << state << " in "
            << memory;
      }
    }
  }
}

// Every stage is reversed once, the last one first, right after a run of it
// and of no later one.
TEST(CheckpointsTest, StepsReverseEachStageAfterItsRun) {
  const EqualStages stages{.count = 40, .residual = 5, .state = 2};
  const Checkpoints found(stages, 200);
  EXPECT_EQ(found.runs(4), Checkpoints::kImpossible);
  EXPECT_EQ(found.runs(200), 40);
  for (std::int32_t memory = 5; memory <= 200; ++memory) {
    std::int32_t left = 40;
    std::int32_t runs = 0;
    std::vector<bool> is_kept(40, false);
    for (const ChainStep& step : found.steps(memory)) {
      const auto i = static_cast<std::size_t>(step.stage);
      if (step.kind == ChainStep::Kind::kReverse) {
        ASSERT_EQ(step.stage, --left);
        ASSERT_TRUE(is_kept[i]);
      } else {
        ++runs;
        ASSERT_LT(step.stage, left);
        is_kept[i] = true;
      }
    }
    EXPECT_EQ(left, 0);
    EXPECT_EQ(runs, found.runs(memory)) << memory;
  }
}

}  // namespace
}  // namespace neap::budget
