// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/verify.hpp"

namespace neap::compiler {
namespace {

// A step that finds a gradient, and may add to it.
struct Step : ProgramMaker {
  ValueId old = external(ones({4, 4}));

  Step() {
    LeafGrad& grad = program.grads.emplace_back();
    grad.is_read = true;
    grad.was_defined = true;
    grad.entry = old;
    grad.is_set = true;
  }
  ValueId contribution() { return call(ops::kExp, {argument({4, 4})}); }
  bool adds(ValueId last) {
    program.grads[0].last = all_of(last);
    accumulate_in_place(program);
    EXPECT_EQ(fault_of(program), "");
    EXPECT_EQ(program.externals[0].is_written, program.grads[0].is_accumulated);
    return program.grads[0].is_accumulated;
  }
};

TEST(AccumulatePassTest, ASumIsMadeInTheOldOnesMemory) {
  Step step;
  const ValueId sum = step.call(ops::kAdd, {step.contribution(), step.old});
  EXPECT_TRUE(step.adds(sum));
  EXPECT_EQ(step.program[sum].over, step.old);
  take_over_inputs(step.program);
  EXPECT_EQ(step.program[sum].over, step.old);
}

TEST(AccumulatePassTest, SoIsASumOfSeveral) {
  Step step;
  const ValueId once = step.call(ops::kAdd, {step.contribution(), step.old});
  const ValueId twice = step.call(ops::kAdd, {step.contribution(), once});
  EXPECT_TRUE(step.adds(twice));
  EXPECT_EQ(step.program[once].over, step.old);
  EXPECT_EQ(step.program[twice].over, once);
}

TEST(AccumulatePassTest, WhatIsWrittenIntoTheSumStaysInIt) {
  Step step;
  const ValueId sum = step.call(ops::kAdd, {step.contribution(), step.old});
  EXPECT_TRUE(step.adds(step.update(sum, step.contribution())));
  EXPECT_EQ(step.program[sum].over, step.old);
}

TEST(AccumulatePassTest, TheOldOneMayBeReadBefore) {
  Step step;
  step.result(step.call(ops::kExp, {step.old}));
  const ValueId sum = step.call(ops::kAdd, {step.contribution(), step.old});
  EXPECT_TRUE(step.adds(sum));
}

TEST(AccumulatePassTest, AnOldOneThatIsReadAfterwardsStaysAsItIs) {
  Step step;
  const ValueId sum = step.call(ops::kAdd, {step.contribution(), step.old});
  step.result(step.call(ops::kExp, {step.old}));
  EXPECT_FALSE(step.adds(sum));
}

TEST(AccumulatePassTest, WhatTheCallerGetsIsATensorOfItsOwn) {
  for (const bool is_old : {true, false}) {
    Step step;
    const ValueId sum = step.call(ops::kAdd, {step.contribution(), step.old});
    step.result(is_old ? step.old : sum);
    EXPECT_FALSE(step.adds(sum)) << is_old;
  }
}

TEST(AccumulatePassTest, AWriteIntoTheOldOneIsSeenByWhoHoldsIt) {
  Step step;
  const ValueId halved = step.update(step.old, step.contribution());
  const ValueId sum = step.call(ops::kAdd, {step.contribution(), halved});
  step.program.grads[0].last = step.all_of(sum);
  accumulate_in_place(step.program);
  EXPECT_FALSE(step.program.grads[0].is_accumulated);
}

TEST(AccumulatePassTest, TheOpMustAllowIt) {
  Step step;
  const ValueId product =
      step.call(ops::kMatmul, {step.contribution(), step.old});
  EXPECT_FALSE(step.adds(product));
}

TEST(AccumulatePassTest, AGradientOfTwoLeavesStaysAsItIs) {
  Step step;
  const ValueId sum = step.call(ops::kAdd, {step.contribution(), step.old});
  LeafGrad other = step.program.grads[0];
  other.last = step.all_of(step.contribution());
  step.program.grads.push_back(other);
  EXPECT_FALSE(step.adds(sum));
}

TEST(AccumulatePassTest, TheSumStaysBehindTheChecksBeforeIt) {
  Step step;
  const ValueId x = step.contribution();
  const ValueId y = step.call(ops::kMul, {x, x});
  step.check(y);
  const ValueId sum = step.call(ops::kAdd, {x, step.old});
  ASSERT_TRUE(step.adds(sum));
  run_checked(reorder_for_peak, step.program);
  EXPECT_EQ(names_of(step.program), "exp mul check add");
}

}  // namespace
}  // namespace neap::compiler
