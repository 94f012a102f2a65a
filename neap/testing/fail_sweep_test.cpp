// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/testing/fail_sweep.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

#include "neap/memory/containers.hpp"

namespace neap::testing {
namespace {

using ::testing::HasSubstr;

class FailSweepTest : public ::testing::Test {
 protected:
  memory::Block take() { return domain_->allocate(100, {}); }
  void give(const memory::Block& block) { domain_->release(block); }

  memory::Domain::Handle domain_ = memory::Domain::create();
};

TEST_F(FailSweepTest, FailsEveryRequestOnceAndThenLetsTheActionSucceed) {
  int successes = 0;
  const SweepResult result = sweep_allocation_failures(*domain_, [&] {
    const memory::UseDomain use(*domain_);
    const memory::Vector<int> a(10);
    const memory::Vector<int> b(10);
    const memory::Vector<int> c(10);
    ++successes;
  });
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.failures, 3);
  EXPECT_EQ(successes, 1);
}

TEST_F(FailSweepTest, CallsTheCheckAfterEveryFailure) {
  std::vector<std::int64_t> seen;
  sweep_allocation_failures(
      *domain_,
      [&] {
        const memory::Block a = take();
        give(a);
        give(take());
      },
      [&](std::int64_t n) { seen.push_back(n); });
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2}));
}

TEST_F(FailSweepTest, ReportsABlockThatAFailedActionLeaves) {
  std::vector<memory::Block> left;
  const SweepResult result = sweep_allocation_failures(*domain_, [&] {
    left.push_back(take());
    take();
  });
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_THAT(result.problems[0], HasSubstr("failure 2: 0 B in 0 blocks"));
  give(left[0]);
}

TEST_F(FailSweepTest, ReportsAnActionThatThrowsSomethingElse) {
  const SweepResult result = sweep_allocation_failures(*domain_, [&] {
    try {
      give(take());
    } catch (const OutOfMemory&) {
      throw ValueError("action: no reason");
    }
  });
  ASSERT_EQ(result.problems.size(), 1U);
  EXPECT_THAT(result.problems[0], HasSubstr("action: no reason"));
}

TEST_F(FailSweepTest, GoesOnWhenAnActionDoesWithoutWhatItWasRefused) {
  const SweepResult result = sweep_allocation_failures(*domain_, [&] {
    try {
      give(take());
    } catch (const OutOfMemory&) {
    }
    give(take());
  });
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(result.failures, 1);
}

TEST_F(FailSweepTest, LeavesTheFaultSwitchOff) {
  sweep_allocation_failures(*domain_, [&] { give(take()); });
  for (int i = 0; i < 10; ++i) {
    give(take());
  }
}

TEST_F(FailSweepTest, KeepsWhatTheSuccessfulRunMade) {
  std::optional<memory::Block> made;
  const SweepResult result =
      sweep_allocation_failures(*domain_, [&] { made = take(); });
  EXPECT_TRUE(result.ok());
  EXPECT_EQ(domain_->stats().live, 100);
  give(*made);
}

}  // namespace
}  // namespace neap::testing
