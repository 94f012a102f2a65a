// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that is given a budget keeps to it, and gives the bits that it would
// give without.
#include "neap/memory/budget.hpp"

#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/lower.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using testing::AllOf;
using testing::HasSubstr;

// Beside these values the bookkeeping of the step is small.
constexpr std::int64_t kBatch = 4096;

// Below what any plan of the net needs, also where a block is held by the byte
// and not by the page (a build with sanitizers).
constexpr Bytes kTooLittle = 3 * kMiB / 2;

memory::Stats stats() {
  return memory::domain().stats();
}

// Held and external, as budgets bound them.
Bytes in_use() {
  return stats().held + stats().external;
}

// A budget of so much more than is in use now; its peak counts from here on.
Bytes budget_of(Bytes room) {
  memory::domain().trim();
  memory::domain().reset_peak();
  return in_use() + room;
}

// A deep chain, and a second result that may be kept.
class Net {
 public:
  Net() {
    seed(1);
    for (int i = 0; i < 12; ++i) {
      weights_.push_back(requires_grad_(randn({32, 32}) * 0.2));
    }
  }
  auto step() {
    return [this](const Tensor& x) {
      ++runs_;
      Tensor y = x;
      for (const Tensor& w : weights_) {
        y = dropout(tanh(matmul(y, w)), 0.1);
      }
      const Tensor loss = sum(square(y));
      backward(loss);
      const NoGrad no_grad;
      for (const Tensor& w : weights_) {
        copy_(w, w - w.grad() * 0.01);
        set_grad(w, Tensor());
      }
      return std::array{loss, y};
    };
  }
  int runs() const { return runs_; }
  std::vector<std::vector<float>> state() const {
    std::vector<std::vector<float>> out;
    for (const Tensor& w : weights_) {
      out.push_back(floats(w));
    }
    return out;
  }

 private:
  std::vector<Tensor> weights_;
  int runs_ = 0;
};

struct Trained {
  std::vector<double> losses;
  std::vector<std::vector<float>> state;
  Bytes most = 0;  // of held and external
  Bytes before = 0;
  bool is_fitted = false;
};

// `room`: of the budget beyond what is held before the first call.
Trained train(Bytes room, CompileOptions options = {}) {
  Net net;
  const Tensor x = randn({kBatch, 32});
  memory::domain().trim();
  memory::domain().reset_peak();
  Trained out;
  out.before = in_use();
  if (room != kUnlimited) {
    options.budget = out.before + room;
  }
  auto step = neap::compile(net.step(), options);
  seed(2);
  for (int i = 0; i < 3; ++i) {
    const auto [loss, y] = step(x);
    out.losses.push_back(loss.item());
    out.losses.push_back(static_cast<double>(floats(y).at(7)));
  }
  out.most = stats().peak + stats().external;
  EXPECT_EQ(net.runs(), 1);
  out.state = net.state();
  out.is_fitted = step.program().fitting.is_changed();
  return out;
}

// Bytes that the net needs with all values kept, beyond those in use before.
Bytes needed() {
  const Trained whole = train(kUnlimited);
  return whole.most - whole.before;
}

TEST(StepBudgetTest, IsMetWithTheSameBits) {
  for (const bool keep_all : {false, true}) {
    const Trained whole = train(kUnlimited, {.keep_all = keep_all});
    EXPECT_FALSE(whole.is_fitted);
    const Bytes all = whole.most - whole.before;
    for (const int percent : {200, 90, 75, 60}) {
      const Bytes room = all * percent / 100;
      const Trained some = train(room, {.keep_all = keep_all});
      EXPECT_LE(some.most, some.before + room) << percent;
      EXPECT_EQ(some.losses, whole.losses) << percent;
      EXPECT_TRUE(some.state == whole.state) << percent;
      EXPECT_EQ(some.is_fitted, percent < 100) << percent;
    }
  }
}

TEST(StepBudgetTest, TheLeastOfAllOpenBudgetsCounts) {
  const Bytes all = needed();
  Net net;
  const Tensor x = randn({kBatch, 32});
  const Bytes bound = budget_of(all * 3 / 4);
  const Budget budget(bound);
  auto step = neap::compile(net.step(), {.budget = bound + all});
  step(x);
  EXPECT_TRUE(step.program().fitting.is_changed());
  EXPECT_LE(stats().peak + stats().external, bound);
}

TEST(StepBudgetTest, BoundsNothingBetweenCalls) {
  Net net;
  const Tensor x = randn({kBatch, 32});
  auto step = neap::compile(net.step(), {.budget = in_use() + 64 * kMiB});
  step(x);
  const Tensor large = zeros({32 * kMiB});
  step(x);  // holds what it needs
  EXPECT_EQ(step.traces(), 1);
}

TEST(StepBudgetTest, WhatDoesNotFitIsRefusedAndNothingHasChanged) {
  Net net;
  const auto state = net.state();
  const Tensor x = randn({kBatch, 32});
  const Bytes budget = budget_of(kTooLittle);
  const Bytes before = stats().live;
  {
    auto step = neap::compile(net.step(), {.budget = budget});
    const Bytes made = stats().live;
    const std::string message = message_of([&] { step(x); });
    EXPECT_THAT(message, AllOf(HasSubstr("a budget of " + format_bytes(budget)),
                               HasSubstr("give about")));
    EXPECT_TRUE(net.state() == state);
    EXPECT_EQ(step.arena_bytes(), 0);
    EXPECT_EQ(step.programs(), 0);
    EXPECT_LE(stats().live, made + 4 * kKiB);
  }
  EXPECT_LE(stats().live, before + 4 * kKiB);
}

// The bytes in "give about 3.1 MiB (3 250 176 B)".
Bytes advised(const std::string& message) {
  std::size_t at = message.find('(', message.find("give about"));
  Bytes out = 0;
  for (; message.at(at) != 'B'; ++at) {
    const char c = message[at];
    out = c >= '0' && c <= '9' ? out * 10 + (c - '0') : out;
  }
  return out;
}

// Tighter plans need more bookkeeping, so that it takes more than one refusal.
TEST(StepBudgetTest, TheAdviceOfRefusalsLeadsToWhatSuffices) {
  if (base::kAddressSanitizer) {
    GTEST_SKIP() << "bookkeeping in larger blocks takes more refusals, each of "
                    "which takes half a minute";
  }
  Net net;
  const Tensor x = randn({kBatch, 32});
  Bytes budget = budget_of(kTooLittle);
  for (int refusals = 0;; ++refusals) {
    ASSERT_LT(refusals, 4);
    auto step = neap::compile(net.step(), {.budget = budget});
    const std::string message = message_of([&] { step(x); });
    if (message.empty()) {
      EXPECT_GT(refusals, 0);
      break;
    }
    EXPECT_GT(advised(message), budget);
    budget = advised(message);
  }
}

TEST(StepBudgetTest, ASecondShapeGrowsTheArenaWithinTheBudget) {
  const Bytes all = needed();
  Net net;
  const Tensor half = randn({kBatch / 2, 32});
  const Tensor full = randn({kBatch, 32});
  const Bytes budget = budget_of(all * 9 / 10);
  auto step = neap::compile(net.step(), {.budget = budget});
  const auto [loss, y] = step(half);
  EXPECT_EQ(y.shape()[0], kBatch / 2);
  step(full);
  step(half);
  step(full);
  EXPECT_EQ(net.runs(), 2);
  EXPECT_LE(stats().peak + stats().external, budget);
}

TEST(StepBudgetTest, TheLargestBatchIsMadeToFitAndSmallerOnesFollow) {
  const Bytes all = needed();
  Net net;
  const Tensor some = randn({kBatch / 4, 32});
  const Tensor full = randn({kBatch, 32});
  const Bytes budget = budget_of(all * 9 / 10);
  auto step =
      neap::compile(net.step(), {.max_batch = kBatch, .budget = budget});
  step(some);
  const Bytes arena = step.arena_bytes();
  step(full);
  EXPECT_EQ(step.arena_bytes(), arena);
  EXPECT_LE(stats().peak + stats().external, budget);
}

TEST(StepBudgetTest, OptionsThatMeanNothingAreRefused) {
  Net net;
  EXPECT_THROW(neap::compile(net.step(), {.budget = -1}), ValueError);
  EXPECT_THROW(neap::lower(net.step(), {tensor::Spec{DType::kF32, {4, 32}}},
                           {.budget = kMiB}),
               ValueError);
}

}  // namespace
}  // namespace neap::compiler
