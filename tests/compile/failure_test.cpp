// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Any request that the making of a compiled step, its first run or a later one
// makes may be refused: a typed error, everything as it was, and the next call
// is the one that it would have been.
#include <gtest/gtest.h>

#include "neap/base/sanitizer.hpp"
#include "neap/testing/fail_sweep.hpp"
#include "training.hpp"

namespace neap::tests {
namespace {

class CompiledFailureTest : public ::testing::TestWithParam<Kind> {
 protected:
  // Long traces are refused at every seventh of their requests, and where each
  // takes long at fewer.
  static std::int64_t stride() {
    const bool is_long = GetParam() == Kind::kGpt ||
                         GetParam() == Kind::kLstm ||
                         GetParam() == Kind::kGruLm;
    return (is_long ? 7 : 1) *
           (base::kAddressSanitizer && GetParam() != Kind::kMlp ? 11 : 1);
  }
  static TrainingOptions options() { return {.kind = GetParam(), .batch = 3}; }

  // Expects everything that a refusal must leave unchanged to be so.
  static void expect_untouched(Training& training, std::uint64_t hash,
                               std::int64_t steps, std::int64_t n) {
    ASSERT_EQ(training.hash(), hash) << n;
    ASSERT_EQ(training.optimizer().step_count(), steps) << n;
    for (const Parameter& each : training.subject().module().parameters()) {
      ASSERT_FALSE(each.tensor.grad().defined()) << n;
    }
  }
};

// One callable throughout: a refused call leaves it nothing of a trace, a plan,
// an arena or the optimizer's state.
TEST_P(CompiledFailureTest, OfAnyRequestLeavesEverythingAndTheNextCallWorks) {
  Training training(options());
  auto step = training.compile();
  for (std::int64_t i = 0; i < 3; ++i) {
    const auto batch = training.batch(static_cast<std::uint64_t>(i));
    const std::uint64_t before = training.hash();
    const Bytes live = training.domain().stats().live;
    std::int64_t refused = 0;
    for (std::int64_t n = 1; n < 100'000; n += stride()) {
      training.domain().fail_at(n);
      try {
        step(batch.first, batch.second);
        break;
      } catch (const OutOfMemory&) {
        ++refused;
      }
      training.domain().fail_at(0);
      expect_untouched(training, before, i, n);
      ASSERT_EQ(training.domain().stats().live, live) << n;
    }
    training.domain().fail_at(0);
    EXPECT_GT(refused, i == 0 ? 20 : -1);
    EXPECT_EQ(training.optimizer().step_count(), i + 1);
  }
  EXPECT_EQ(training.hash(), train_eagerly(options(), 3).hash);
}

using CompiledPreparationTest = CompiledFailureTest;

// Trace and plan alone, by a step that is made anew, so that nothing of it may
// be left in the domain.
TEST_P(CompiledPreparationTest, ThatIsRefusedLeavesNothingBehind) {
  Training training(options());
  training.compile().prepare(training.specs());  // the optimizer's state
  const std::uint64_t before = training.hash();
  const auto swept = testing::sweep_allocation_failures(
      training.domain(), [&] { training.compile().prepare(training.specs()); },
      [&](std::int64_t n) { expect_untouched(training, before, 0, n); });
  EXPECT_GT(swept.failures, 50);
  EXPECT_TRUE(swept.ok()) << swept.problems.front();
  expect_untouched(training, before, 0, 0);
}

INSTANTIATE_TEST_SUITE_P(All, CompiledFailureTest,
                         ::testing::ValuesIn(kFewKinds), kind_of);
INSTANTIATE_TEST_SUITE_P(Short, CompiledPreparationTest,
                         ::testing::Values(Kind::kMlp, Kind::kGptAnew,
                                           Kind::kNewton),
                         kind_of);

}  // namespace
}  // namespace neap::tests
