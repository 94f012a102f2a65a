// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/evaluate.hpp"

#include <gtest/gtest.h>

namespace neap::budget {
namespace {

// Values of 4, 2 and 3 units: 1 is made from 0, 2 from both.
Problem small() {
  Problem problem;
  problem.values = {{.size = 4}, {.size = 2}, {.size = 3, .outlives = true}};
  problem.calls = {{.reads = {},
                    .makes = {0},
                    .take_overs = {},
                    .price = 7,
                    .scratch = 0,
                    .again_until = kAlways},
                   {.reads = {0},
                    .makes = {1},
                    .take_overs = {},
                    .price = 5,
                    .scratch = 1,
                    .again_until = 2},
                   {.reads = {0, 1},
                    .makes = {2},
                    .take_overs = {{.made = 2, .read = 0}},
                    .price = 3,
                    .scratch = 0,
                    .again_until = kNever}};
  return problem;
}

// Runs with what each drops.
struct Step {
  std::int32_t call;
  memory::Vector<std::int32_t> drops{};
};

Schedule schedule(std::initializer_list<Step> steps) {
  Schedule out;
  for (const Step& step : steps) {
    out.drops.insert(out.drops.end(), step.drops.begin(), step.drops.end());
    out.runs.push_back(
        {step.call, static_cast<std::uint32_t>(out.drops.size())});
  }
  return out;
}

Evaluation evaluation(std::initializer_list<Step> steps) {
  return evaluate(small(), schedule(steps));
}

TEST(EvaluateTest, CountsWhatIsThereWhileACallRuns) {
  const Evaluation kept = evaluation({{0}, {1}, {2}});
  EXPECT_TRUE(kept.is_good());
  EXPECT_EQ(kept.peak, 4 + 2 + 3);
  EXPECT_EQ(kept.peak_run, 2);
  EXPECT_EQ(kept.price, 0);
  // Value 2 takes over three units of value 0: the second call is the highest.
  const Evaluation taken = evaluation({{0}, {1}, {2, {0, 1}}});
  EXPECT_TRUE(taken.is_good());
  EXPECT_EQ(taken.peak, 4 + 2 + 1);
  EXPECT_EQ(taken.peak_run, 1);
}

TEST(EvaluateTest, AnotherRunHasItsPriceAndItsOutputsBesideThoseThere) {
  const Evaluation again = evaluation({{0}, {1, {0}}, {0}, {2, {0, 1}}});
  EXPECT_TRUE(again.is_good());
  EXPECT_EQ(again.price, 7);
  EXPECT_EQ(again.peak, 4 + 2 + 1);
  EXPECT_EQ(again.peak_run, 1);
  const Evaluation twice = evaluation({{0}, {0}, {1}, {2, {0, 1}}});
  EXPECT_TRUE(twice.is_good());
  EXPECT_EQ(twice.price, 7);
  EXPECT_EQ(twice.peak, 4 + 4);
  EXPECT_EQ(twice.peak_run, 1);
}

void expect_fault(const Evaluation& found, Fault fault, std::int32_t run,
                  std::int32_t value) {
  EXPECT_EQ(found.fault, fault) << name_of(found.fault);
  EXPECT_EQ(found.run, run);
  EXPECT_EQ(found.value, value);
}

TEST(EvaluateTest, NamesTheFirstFault) {
  expect_fault(evaluation({{1}}), Fault::kOrder, 0, -1);
  expect_fault(evaluation({{-1}}), Fault::kOrder, 0, -1);
  expect_fault(evaluation({{0}, {1}, {2}, {3}}), Fault::kOrder, 3, -1);
  expect_fault(evaluation({{0}, {1}}), Fault::kOrder, 2, -1);
  expect_fault(evaluation({{0, {0}}, {1}}), Fault::kAbsent, 1, 0);
  expect_fault(evaluation({{0}, {1}, {2, {2}}}), Fault::kAbsent, 3, 2);
  expect_fault(evaluation({{0}, {1}, {2}, {1}}), Fault::kTooLate, 3, -1);
  expect_fault(evaluation({{0}, {1}, {2}, {2}}), Fault::kTooLate, 3, -1);
  expect_fault(evaluation({{0, {1}}}), Fault::kDrop, 0, 1);
  expect_fault(evaluation({{0, {0, 0}}}), Fault::kDrop, 0, 0);
  expect_fault(evaluation({{0, {3}}}), Fault::kDrop, 0, 3);
  EXPECT_TRUE(evaluation({{0}, {1}, {1}, {2}}).is_good());
}

TEST(EvaluateTest, RangesOfDropsThatAreNoneAreRefused) {
  Schedule broken = schedule({{0}, {1, {1}}, {1}, {2}});
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
