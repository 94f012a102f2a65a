// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/problem.hpp"

#include <gtest/gtest.h>

#include <string>

namespace neap::planner {
namespace {

std::string complaint_about(const Problem& problem) {
  try {
    check(problem);
  } catch (const ValueError& error) {
    return error.what();
  }
  return "";
}

Problem of(std::initializer_list<Buffer> buffers,
           std::int64_t capacity = kNoLimit) {
  Problem problem;
  problem.buffers.assign(buffers.begin(), buffers.end());
  problem.capacity = capacity;
  return problem;
}

TEST(ProblemTest, AcceptsWhatIsWhole) {
  EXPECT_EQ(complaint_about(of({})), "");
  EXPECT_EQ(
      complaint_about(
          of({{.lower = -3, .upper = 0, .size = 0},
              {.lower = 1, .upper = 2, .size = 4, .alignment = 3, .fixed = 6}},
             10)),
      "");
}

TEST(ProblemTest, AcceptsACapacityOfNothing) {
  EXPECT_EQ(complaint_about(of({{.upper = 1, .size = 0}}, 0)), "");
  EXPECT_EQ(complaint_about(of({}, -1)), "plan: the capacity -1 is negative");
}

TEST(ProblemTest, AcceptsSumsThat64BitsHold) {
  EXPECT_EQ(complaint_about(of({{.upper = 1, .size = kNoLimit - 2}})), "");
  const std::string refusal =
      "plan: the sizes add up to more than 64 bits hold";
  EXPECT_EQ(complaint_about(of({{.upper = 1, .size = kNoLimit - 1}})), refusal);
  // A fixed buffer may lie below all the others, or beside them.
  EXPECT_EQ(
      complaint_about(of({{.upper = 1, .size = kNoLimit / 2 + 1, .fixed = 0}})),
      refusal);
}

TEST(ProblemTest, NamesTheBufferThatIsWrong) {
  const Buffer good = {.lower = 0, .upper = 1, .size = 8};
  const auto second = [&](Buffer b) { return complaint_about(of({good, b})); };
  EXPECT_EQ(second({.lower = 2, .upper = 2, .size = 1}),
            "plan: buffer 1 lives from 2 to 2, which is no time");
  EXPECT_EQ(second({.lower = 0, .upper = 1, .size = -1}),
            "plan: buffer 1 has the negative size -1");
  EXPECT_EQ(second({.upper = 1, .size = 1, .alignment = 0}),
            "plan: buffer 1 has alignment 0, 1 is the least");
  EXPECT_EQ(second({.upper = 1, .size = 1, .alignment = 4, .fixed = 6}),
            "plan: buffer 1 is fixed at 6, no multiple of 4");
  EXPECT_EQ(complaint_about(of({{.upper = 1, .size = 5, .fixed = 6}}, 10)),
            "plan: buffer 0 of size 5 is fixed at 6, beyond the capacity 10");
  EXPECT_EQ(complaint_about(of({{.upper = 1, .size = 11, .fixed = 0}}, 10)),
            "plan: buffer 0 of size 11 is fixed at 0, beyond the capacity 10");
}

TEST(ProblemTest, NamesTheAliasThatIsWrong) {
  const Buffer good = {.lower = 0, .upper = 1, .size = 8};
  const auto second = [&](Buffer b) { return complaint_about(of({good, b})); };
  EXPECT_EQ(second({.upper = 1, .size = 1, .alias_of = 7}),
            "plan: buffer 1 is an alias of 7, there are 2");
  EXPECT_EQ(second({.upper = 1, .size = 1, .alias_of = 2}),
            "plan: buffer 1 is an alias of 2, there are 2");
  EXPECT_EQ(second({.upper = 1, .size = 1, .alias_of = 1}),
            "plan: buffer 1 is an alias of itself");
  EXPECT_EQ(second({.upper = 1, .size = 4, .alias_of = 0, .alias_at = 5}),
            "plan: buffer 1 of size 4 sticks out of buffer 0 of size 8, where "
            "it lies at 5");
  EXPECT_EQ(second({.upper = 1, .size = 0, .alias_of = 0, .alias_at = 8}), "");
  EXPECT_EQ(second({.upper = 1, .size = 0, .alias_of = 0, .alias_at = 9}),
            "plan: buffer 1 of size 0 sticks out of buffer 0 of size 8, where "
            "it lies at 9");
  EXPECT_EQ(second({.upper = 1, .size = 1, .fixed = 0, .alias_of = 0}),
            "plan: buffer 1 is fixed, fix buffer 0 it lies in");
  EXPECT_EQ(second({.upper = 1,
                    .size = 4,
                    .alignment = 4,
                    .alias_of = 0,
                    .alias_at = 2}),
            "plan: buffer 1 lies at 2, no multiple of 4");
  EXPECT_EQ(complaint_about(of({good,
                                {.upper = 1, .size = 1, .alias_of = 0},
                                {.upper = 1, .size = 1, .alias_of = 1}})),
            "plan: buffer 2 is an alias of 1, an alias itself");
}

TEST(ProblemTest, RefusesSumsThatNoIntegerHolds) {
  const Buffer half = {.upper = 1, .size = kNoLimit / 2 + 1};
  EXPECT_EQ(complaint_about(of({half, half})),
            "plan: the sizes add up to more than 64 bits hold");
  EXPECT_EQ(complaint_about(of({{.upper = 1, .size = 1, .fixed = kNoLimit - 1},
                                {.upper = 1, .size = 1}})),
            "plan: the sizes add up to more than 64 bits hold");
}

TEST(ProblemTest, AnAliasOfTheFirstBufferAddsNothing) {
  constexpr std::int64_t kMost = kNoLimit - 10;
  const Problem problem =
      of({{.upper = 1, .size = kMost},
          {.lower = 1, .upper = 2, .size = kMost, .alias_of = 0}});
  EXPECT_EQ(complaint_about(problem), "");
  const Merged merged = merge_aliases(problem);
  ASSERT_EQ(merged.problem.buffers.size(), 1U);
  EXPECT_EQ(merged.problem.buffers[0].upper, 2);
  EXPECT_EQ(merged.owner, (memory::Vector<std::int32_t>{0, 0}));
}

TEST(ProblemTest, MergesAnAliasIntoTheBufferItLiesIn) {
  const Merged merged = merge_aliases(
      of({{.lower = 4, .upper = 6, .size = 2, .alias_of = 2, .alias_at = 4},
          {.lower = 0, .upper = 9, .size = 3},
          {.lower = 1, .upper = 3, .size = 8, .alignment = 2},
          {.lower = 0, .upper = 2, .size = 8, .alignment = 3, .alias_of = 2}}));
  ASSERT_EQ(merged.problem.buffers.size(), 2U);
  const Buffer& group = merged.problem.buffers[1];
  EXPECT_EQ(group.lower, 0);
  EXPECT_EQ(group.upper, 6);
  EXPECT_EQ(group.size, 8);
  EXPECT_EQ(group.alignment, 6);
  EXPECT_EQ(merged.owner, (memory::Vector<std::int32_t>{1, 0, 1, 1}));
}

}  // namespace
}  // namespace neap::planner
