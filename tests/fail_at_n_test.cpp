// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Every allocation of a whole training step fails once: a typed error,
// nothing leaked, the state as before, and the retried step ends in the bits of
// one that was never disturbed.
#include <gtest/gtest.h>

#include "neap/testing/fail_sweep.hpp"
#include "training_run.hpp"

namespace neap::tests {
namespace {

std::uint64_t hash_after(int steps) {
  const auto domain = Domain::create();
  TrainingRun run(*domain);
  for (int i = 0; i < steps; ++i) {
    run.step();
  }
  return run.hash();
}

class FailAtNTest : public ::testing::TestWithParam<int> {};

TEST_P(FailAtNTest, LeavesTheStateAndRetriesToTheSameBits) {
  const int warm_up = GetParam();
  const auto domain = Domain::create();
  {
    TrainingRun run(*domain);
    for (int i = 0; i < warm_up; ++i) {
      run.step();
    }
    const std::uint64_t before = run.hash();
    const auto result = testing::sweep_allocation_failures(
        *domain, [&] { run.step(); },
        [&](std::int64_t n) {
          EXPECT_EQ(run.hash(), before) << "after request " << n;
          for (const Parameter& p : run.model().parameters()) {
            EXPECT_FALSE(p.tensor.grad().defined()) << p.name;
          }
        });
    EXPECT_TRUE(result.ok()) << result.problems.front();
    EXPECT_GT(result.failures, 50);
    EXPECT_EQ(run.hash(), hash_after(warm_up + 1));
  }
  EXPECT_EQ(domain->stats().live, 0);
}

// The first step makes the optimizer's state; the fifth has a smaller batch.
INSTANTIATE_TEST_SUITE_P(Steps, FailAtNTest, ::testing::Values(0, 1, 4));

}  // namespace
}  // namespace neap::tests
