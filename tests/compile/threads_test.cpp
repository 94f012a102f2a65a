// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Compiled steps and several threads of the caller's.
#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <semaphore>
#include <thread>

#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

class CompiledTurnsTest : public ::testing::TestWithParam<Kind> {};

// Two callables over one model, each at home in a thread, turn by turn.
TEST_P(CompiledTurnsTest, TwoStepsShareAModelTurnByTurn) {
  constexpr int kTurns = 4;
  const TrainingOptions options{.kind = GetParam(), .batch = 3};
  Training training(options);
  std::array steps{training.compile(), training.compile()};
  std::array<std::vector<double>, 2> losses;
  std::array<std::binary_semaphore, 2> turns{std::binary_semaphore(1),
                                             std::binary_semaphore(0)};
  const memory::Context mine = memory::context();
  const tensor::Execution running = tensor::execution();
  const auto body = [&](std::size_t me) {
    const memory::ContextGuard same([&](memory::Context& c) { c = mine; });
    const tensor::ExecutionGuard alike(
        [&](tensor::Execution& e) { e = running; });
    for (std::uint64_t i = 0; i < kTurns; ++i) {
      turns[me].acquire();
      const auto batch = training.batch(2 * i + me);
      losses[me].push_back(steps[me](batch.first, batch.second).item());
      turns[1 - me].release();
    }
  };
  std::thread other(body, 1);
  body(0);
  other.join();
  const Trace eager = train_eagerly(options, 2 * kTurns);
  EXPECT_EQ(training.hash(), eager.hash);
  for (std::size_t i = 0; i < 2 * kTurns; ++i) {
    EXPECT_EQ(losses[i % 2][i / 2], eager.losses[i]) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Small, CompiledTurnsTest,
                         ::testing::Values(Kind::kMlp, Kind::kNewton), kind_of);

// A trace is a part of a call, and one that waits for the others keeps the step
// busy for as long as the test likes.
TEST(CompiledThreadsTest, ACallWhileAnotherRunsIsATypedError) {
  std::binary_semaphore is_inside(0);
  std::binary_semaphore may_end(0);
  bool waits = true;
  auto step = neap::compile([&](const Tensor& x) {
    if (waits) {
      is_inside.release();
      may_end.acquire();
    }
    return x + 1.0;
  });
  const Tensor x = zeros({3});
  double first = 0;
  std::thread other([&] { first = step(x).to_vector()[2]; });
  is_inside.acquire();
  EXPECT_THROW(step(x), ValueError);
  EXPECT_THROW(step.reset(), ValueError);
  EXPECT_THROW(step.prepare({x.spec()}), ValueError);
  may_end.release();
  other.join();
  waits = false;
  EXPECT_EQ(first, 1.0);
  EXPECT_EQ(step(x).to_vector()[0], 1.0);
  EXPECT_EQ(step.traces(), 1);
}

// Each call is right or refused, however the threads meet.
TEST(CompiledThreadsTest, ARaceForAStepHarmsNobody) {
  CompileOptions options;
  options.keep_all = true;
  auto step =
      neap::compile([](const Tensor& x) { return exp(x) * 2.0 + x; }, options);
  const Tensor x = zeros({64});
  step(x);
  std::atomic<int> right = 0;
  std::atomic<int> refused = 0;
  const auto body = [&] {
    for (int i = 0; i < 300; ++i) {
      try {
        const Tensor y = step(x);
        right += y.to_vector()[63] == 2.0 ? 1 : 0;
      } catch (const ValueError&) {
        ++refused;
      }
    }
  };
  std::thread one(body);
  std::thread two(body);
  one.join();
  two.join();
  EXPECT_EQ(right + refused, 600);
  EXPECT_GT(right, 0);
}

// Steps that share nothing run at the same time.
TEST(CompiledThreadsTest, StepsOfTheirOwnRunAtTheSameTime) {
  const TrainingOptions options{.batch = 3};
  const Trace eager = train_eagerly(options, 5);
  std::array<Trace, 3> found;
  std::vector<std::thread> threads;
  for (Trace& trace : found) {
    threads.emplace_back(
        [&trace, &options] { trace = train_compiled(options, 5); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const Trace& trace : found) {
    EXPECT_EQ(trace, eager);
  }
}

}  // namespace
}  // namespace neap::tests
