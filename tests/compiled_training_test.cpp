// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A compiled training step leaves the bits of the eager one, and from the third
// run on asks nobody for anything.
#include <gtest/gtest.h>

#include "compiled_run.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "support/counting_malloc.hpp"

namespace neap::tests {
namespace {

struct Trained {
  std::vector<double> losses;
  std::uint64_t hash = 0;
  friend bool operator==(const Trained&, const Trained&) = default;
};

constexpr int kSteps = 10;

Trained train_eagerly(const CompiledRunOptions& options) {
  CompiledRun run(options);
  Trained out;
  for (int i = 0; i < kSteps; ++i) {
    const auto [x, y] = run.batch(static_cast<std::uint64_t>(i));
    out.losses.push_back(run.plain(x, y).item());
  }
  out.hash = run.hash();
  return out;
}

Trained train_compiled(const CompiledRunOptions& options,
                       const CompileOptions& how = {}) {
  CompiledRun run(options);
  auto step = run.compile(how);
  Trained out;
  for (int i = 0; i < kSteps; ++i) {
    const auto [x, y] = run.batch(static_cast<std::uint64_t>(i));
    out.losses.push_back(step(x, y).item());
  }
  EXPECT_EQ(step.traces(), 1);
  out.hash = run.hash();
  return out;
}

TEST(CompiledTrainingTest, LeavesTheBitsOfEagerStepsForAnyBatch) {
  for (const std::int64_t batch : {1, 7, 64}) {
    EXPECT_EQ(train_compiled({.batch = batch}), train_eagerly({.batch = batch}))
        << batch;
  }
}

TEST(CompiledTrainingTest, LeavesTheSameBitsForAnyNumberOfThreads) {
  const Trained eager = train_eagerly({});
  for (const int threads : {1, 2, 3}) {
    EXPECT_EQ(train_compiled({.threads = threads}), eager) << threads;
  }
}

TEST(CompiledTrainingTest, LeavesTheSameBitsWithoutPasses) {
  CompileOptions bare;
  bare.passes = compiler::Passes::none();
  EXPECT_EQ(train_compiled({}, bare), train_eagerly({}));
}

TEST(CompiledTrainingTest, LeavesTheSameBitsInEveryDebugMode) {
  const Trained eager = train_eagerly({});
  for (const compiler::Debug debug :
       {compiler::Debug{.poison = true}, compiler::Debug{.guards = true},
        compiler::Debug{.no_reuse = true},
        compiler::Debug{.poison = true, .guards = true}}) {
    CompileOptions how;
    how.debug = debug;
    EXPECT_EQ(train_compiled({}, how), eager);
  }
}

TEST(CompiledTrainingTest, AllocatesNothingFromTheThirdStep) {
  CompiledRun run;
  auto step = run.compile();
  const auto [x, y] = run.batch(0);
  for (int i = 0; i < 2; ++i) {
    step(x, y).item();
  }
  const std::int64_t before = run.domain().stats().allocations;
  for (int i = 0; i < 10; ++i) {
    step(x, y).item();
  }
  EXPECT_EQ(run.domain().stats().allocations, before);
}

TEST(CompiledTrainingTest, MakesNoHeapOrMapCallFromTheThirdStep) {
  if (!support::is_counting()) {
    GTEST_SKIP() << "a sanitizer counts here";
  }
  CompiledRun run({.widths = {784, 512, 256, 10}, .batch = 64, .threads = 2});
  auto step = run.compile();
  const auto [x, y] = run.batch(0);
  for (int i = 0; i < 2; ++i) {
    step(x, y).item();
  }
  support::reset_outside_calls();
  for (int i = 0; i < 10; ++i) {
    step(x, y).item();
  }
  const support::OutsideStats outside = support::outside_stats();
  EXPECT_EQ(outside.heap_calls, 0);
  EXPECT_EQ(outside.map_calls, 0);
}

// Everything a training program does, in a domain of its own.
memory::Stats measure(bool is_rehearsal, std::int64_t batch) {
  const auto domain = Domain::create(
      {.host = memory::HostAllocator::kPooled, .is_rehearsal = is_rehearsal});
  CompiledRun run(
      {.widths = {128, 96, 64, 10}, .batch = batch, .domain = domain.get()});
  auto step = run.compile();
  for (int i = 0; i < 3; ++i) {
    const auto [x, y] = run.batch(static_cast<std::uint64_t>(i));
    const Tensor loss = step(x, y);
    if (!is_rehearsal) {
      loss.item();
    }
  }
  return domain->stats();
}

TEST(CompiledTrainingTest, ADryRunTellsThePeakToTheByte) {
  for (const std::int64_t batch : {1, 7, 64}) {
    const memory::Stats told = measure(true, batch);
    const memory::Stats measured = measure(false, batch);
    EXPECT_EQ(told.peak, measured.peak) << batch;
    EXPECT_EQ(told.live_peak, measured.live_peak) << batch;
    EXPECT_EQ(told.allocations, measured.allocations) << batch;
  }
}

TEST(CompiledTrainingTest, SurvivesAFailureAtAnyRequest) {
  CompiledRun run({.widths = {6, 5, 3}, .batch = 4});
  const auto batch = run.batch(0);
  const Tensor x = batch.first;
  const Tensor y = batch.second;
  run.compile()(x, y);  // what the optimizer makes once is there
  const std::uint64_t before = run.hash();
  const auto result = testing::sweep_allocation_failures(
      run.domain(),
      [&] {
        auto step = run.compile();
        step(x, y).item();
      },
      [&](std::int64_t n) { EXPECT_EQ(run.hash(), before) << n; });
  EXPECT_GT(result.failures, 100);
  EXPECT_TRUE(result.ok()) << result.problems.front();
  EXPECT_NE(run.hash(), before);
}

}  // namespace
}  // namespace neap::tests
