// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/evaluate_for_test.hpp"

namespace neap::budget {
namespace {

Problem small() {
  Problem problem = small_problem();
  problem.calls[1].again_until = 2;
  return problem;
}

// The run of a call, with what it drops.
Step run(std::int32_t call, memory::Vector<std::int32_t> drops = {}) {
  return {Action::kRun, call, std::move(drops)};
}

Evaluation evaluation(std::initializer_list<Step> steps) {
  return evaluate(small(), schedule_of(steps));
}

TEST(EvaluateTest, CountsWhatIsThereWhileACallRuns) {
  const Evaluation kept = evaluation({run(0), run(1), run(2)});
  EXPECT_TRUE(kept.is_good());
  EXPECT_EQ(kept.peak, 4 + 2 + 3);
  EXPECT_EQ(kept.peak_run, 2);
  EXPECT_EQ(kept.price, 0);
  // Value 2 takes over three units of value 0: the second call is the highest.
  const Evaluation taken = evaluation({run(0), run(1), run(2, {0, 1})});
  EXPECT_TRUE(taken.is_good());
  EXPECT_EQ(taken.peak, 4 + 2 + 1);
  EXPECT_EQ(taken.peak_run, 1);
}

TEST(EvaluateTest, AnotherRunHasItsPriceAndItsOutputsBesideThoseThere) {
  const Evaluation again =
      evaluation({run(0), run(1, {0}), run(0), run(2, {0, 1})});
  EXPECT_TRUE(again.is_good());
  EXPECT_EQ(again.price, 7);
  EXPECT_EQ(again.peak, 4 + 2 + 1);
  EXPECT_EQ(again.peak_run, 1);
  const Evaluation twice = evaluation({run(0), run(0), run(1), run(2, {0, 1})});
  EXPECT_TRUE(twice.is_good());
  EXPECT_EQ(twice.price, 7);
  EXPECT_EQ(twice.peak, 4 + 4);
  EXPECT_EQ(twice.peak_run, 1);
}

TEST(EvaluateTest, NamesTheFirstFault) {
  expect_fault(evaluation({run(1)}), Fault::kOrder, 0, -1);
  expect_fault(evaluation({run(-1)}), Fault::kOrder, 0, -1);
  expect_fault(evaluation({run(0), run(1), run(2), run(3)}), Fault::kOrder, 3,
               -1);
  expect_fault(evaluation({run(0), run(1)}), Fault::kOrder, 2, -1);
  expect_fault(evaluation({run(0, {0}), run(1)}), Fault::kAbsent, 1, 0);
  expect_fault(evaluation({run(0), run(1), run(2, {2})}), Fault::kAbsent, 3, 2);
  expect_fault(evaluation({run(0), run(1), run(2), run(1)}), Fault::kTooLate, 3,
               -1);
  expect_fault(evaluation({run(0), run(1), run(2), run(2)}), Fault::kTooLate, 3,
               -1);
  expect_fault(evaluation({run(0, {1})}), Fault::kDrop, 0, 1);
  expect_fault(evaluation({run(0, {0, 0})}), Fault::kDrop, 0, 0);
  expect_fault(evaluation({run(0, {3})}), Fault::kDrop, 0, 3);
  EXPECT_TRUE(evaluation({run(0), run(1), run(1), run(2)}).is_good());
}

TEST(EvaluateTest, RangesOfDropsThatAreNoneAreRefused) {
  Schedule broken = schedule_of({run(0), run(1, {1}), run(1), run(2)});
  EXPECT_TRUE(evaluate(small(), broken).is_good());
  broken.runs[3].drops_end = 2;
  EXPECT_EQ(evaluate(small(), broken).fault, Fault::kDrop);
  broken.runs[3].drops_end = 0;
  EXPECT_EQ(evaluate(small(), broken).fault, Fault::kDrop);
}

TEST(EvaluateTest, EveryFaultHasAName) {
  EXPECT_STREQ(name_of(Fault::kNone), "none");
  EXPECT_STREQ(name_of(Fault::kTooLate), "too late");
}

}  // namespace
}  // namespace neap::budget
