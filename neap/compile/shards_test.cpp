// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Steps whose batch is cut: into shards, whose bits are a function of their
// number, and into micro-batches, to the bits of the whole.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/lower.hpp"
#include "neap/models/gpt.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/threads/pool.hpp"
#include "neap/train/state_hash.hpp"

namespace neap::compiler {
namespace {

using testing::HasSubstr;

constexpr std::int64_t kRows = 7;
constexpr std::int64_t kTokens = 16;
constexpr std::int64_t kVocab = 50;

struct Outcome {
  std::vector<double> losses;
  std::uint64_t state = 0;
  Bytes arena = 0;
  Fitting fitting{};
  Sharding sharding{};
};

// Three steps of a GPT with dropout, the last of them with fewer rows.
Outcome train(const CompileOptions& options, int threads = 1) {
  threads::Pool pool(threads);
  const tensor::ExecutionGuard guard(
      [&](tensor::Execution& c) { c.executor = &pool; });
  seed(3);
  models::Gpt model({.vocab = kVocab,
                     .block = kTokens,
                     .layers = 2,
                     .heads = 2,
                     .dim = 32,
                     .dropout = 0.2});
  optim::AdamW optimizer(model.parameters(), {.lr = 0.01});
  auto step = neap::compile(
      [&](const Tensor& tokens, const Tensor& targets) {
        const Tensor loss = model.loss(tokens, targets);
        backward(loss);
        optimizer.step();
        optimizer.zero_grad();
        return loss.detach();
      },
      options);
  Outcome out;
  for (const std::int64_t rows : {kRows, kRows, kRows - 2}) {
    out.losses.push_back(step(randint(0, kVocab, {rows, kTokens}),
                              randint(0, kVocab, {rows, kTokens}))
                             .item());
    if (rows == kRows) {
      out.arena = step.arena_bytes();
      out.fitting = step.program().fitting;
      out.sharding = step.program().sharding;
    }
  }
  out.state = train::state_hash(model, optimizer, tensor::generator());
  return out;
}

void expect_same(const Outcome& a, const Outcome& b) {
  EXPECT_EQ(a.losses, b.losses);
  EXPECT_EQ(a.state, b.state);
}

TEST(ShardsTest, HaveTheSameBitsAtEveryLimitAndNumberOfThreads) {
  const Outcome four = train({.shards = 4});
  EXPECT_EQ(four.sharding.shards, 4U);
  EXPECT_EQ(four.sharding.rows, kRows);
  expect_same(train({.shards = 4}, 3), four);
  expect_same(train({.shards = 4, .passes = Passes::none()}), four);
  expect_same(train({.arena_limit = four.arena * 9 / 10, .shards = 4}), four);
  const Outcome whole = train({});
  EXPECT_LT(four.arena, whole.arena);
  EXPECT_NE(four.state, whole.state);  // sums in another order
  EXPECT_NE(four.state, train({.shards = 2}).state);
  EXPECT_NEAR(four.losses[0], whole.losses[0], 1e-5);
}

TEST(ShardsTest, OneIsTheStepAsItWas) {
  const Outcome one = train({.shards = 1});
  EXPECT_EQ(one.sharding.shards, 1U);
  expect_same(one, train({}));
}

TEST(ShardsTest, AreAtMostOneARow) {
  const Outcome many = train({.shards = 100});
  EXPECT_EQ(many.sharding.shards, kRows);
  expect_same(many, train({.shards = static_cast<int>(kRows)}));
}

// ((0 + 1) + (2 + 3)) + 4: of f32, in which 1 is lost beside 2^25.
TEST(ShardsTest, SumInOneTree) {
  const auto sum_of = [](const std::vector<double>& rows, int shards) {
    auto step = neap::compile([](const Tensor& x) { return sum(x, {0}); },
                              {.shards = shards});
    const auto count = static_cast<std::int64_t>(rows.size());
    return step(from_values(rows, {count, 1}, f32)).item();
  };
  constexpr double kLarge = 0x1p25;
  EXPECT_EQ(sum_of({1, -1, kLarge, 1, -kLarge}, 5), 0.0);
  EXPECT_EQ(sum_of({1, kLarge, -kLarge, 1}, 4), 0.0);
  EXPECT_EQ(sum_of({1, 1, kLarge, -kLarge}, 4), 2.0);
  EXPECT_EQ(sum_of({kLarge, -kLarge, 1, 1, 1}, 5), 3.0);
}

TEST(ShardsTest, AreRefusedWhereThereIsNoBatch) {
  EXPECT_THROW(neap::compile([](const Tensor& x) { return x; }, {.shards = 0}),
               ValueError);
  const Tensor kept = ones({4, 2});
  auto step = neap::compile([&] { return sum(kept); }, {.shards = 2});
  EXPECT_THAT(message_of([&] { step(); }), HasSubstr("pass it the batch"));
}

TEST(MicroBatchesTest, HaveTheBitsOfTheWholeBatch) {
  const Outcome whole = train({});
  Bytes arena = whole.arena;
  for (const std::uint32_t count : {2U, 3U, 7U}) {
    const Outcome some = train({.passes = {.micro_batches = count}});
    EXPECT_EQ(some.fitting.micro_batches, count);
    EXPECT_LT(some.arena, arena) << count;
    expect_same(some, whole);
    expect_same(train({.passes = {.micro_batches = count}}, 2), whole);
    arena = some.arena;
  }
}

TEST(MicroBatchesTest, MeetALimitWithoutCallsThatRunAgain) {
  const Outcome whole = train({});
  const Bytes limit = whole.arena * 65 / 100;
  const Outcome some = train({.arena_limit = limit, .recompute = false});
  EXPECT_GE(some.fitting.micro_batches, 2U);
  EXPECT_EQ(some.fitting.again, 0U);
  EXPECT_LE(some.arena, limit);
  expect_same(some, whole);
  EXPECT_THROW(train({.arena_limit = limit,
                      .recompute = false,
                      .passes = {.micro_batches = 1}}),
               PlanError);
}

}  // namespace
}  // namespace neap::compiler
