// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A small problem and schedules written out, for the tests of evaluate().
#pragma once

#include <gtest/gtest.h>

#include <initializer_list>

#include "neap/budget/evaluate.hpp"

namespace neap::budget {

/// Values of 4, 2 and 3 units: 1 is made from 0, 2 from both. All may run again
/// at any time.
inline Problem small_problem() {
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
                    .again_until = kAlways},
                   {.reads = {0, 1},
                    .makes = {2},
                    .take_overs = {{.made = 2, .read = 0}},
                    .price = 3,
                    .scratch = 0,
                    .again_until = kNever}};
  return problem;
}

/// A run or a move, with what it drops.
struct Step {
  Action action;
  std::int32_t index;
  memory::Vector<std::int32_t> drops{};
};

inline Schedule schedule_of(std::initializer_list<Step> steps) {
  Schedule out;
  for (const Step& step : steps) {
    out.drops.insert(out.drops.end(), step.drops.begin(), step.drops.end());
    out.runs.push_back(
        {.index = step.index,
         .drops_end = static_cast<std::uint32_t>(out.drops.size()),
         .action = step.action});
  }
  return out;
}

inline void expect_fault(const Evaluation& found, Fault fault, std::int32_t run,
                         std::int32_t value) {
  EXPECT_EQ(found.fault, fault) << name_of(found.fault);
  EXPECT_EQ(found.run, run);
  EXPECT_EQ(found.value, value);
}

}  // namespace neap::budget
