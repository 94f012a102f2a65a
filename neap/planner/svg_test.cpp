// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/planner/svg.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace neap::planner {
namespace {

using testing::HasSubstr;
using testing::Not;

TEST(SvgTest, DrawsARectangleForEachBufferThatTakesRoom) {
  Problem problem;
  problem.buffers = {{.lower = 10, .upper = 15, .size = 30},
                     {.lower = 10, .upper = 20, .size = 0},
                     {.lower = 15, .upper = 20, .size = 60},
                     {.lower = 11, .upper = 12, .size = 5, .alias_of = 0}};
  Solution solution;
  solution.offsets = {30, 0, 0, 30};
  solution.height = 60;
  const memory::String svg = to_svg(problem, solution);
  EXPECT_THAT(svg, HasSubstr("<rect x=\"0.00\" y=\"0.00\" width=\"500.00\" "
                             "height=\"300.00\""));
  EXPECT_THAT(svg, HasSubstr("<rect x=\"500.00\" y=\"0.00\" width=\"500.00\" "
                             "height=\"600.00\""));
  EXPECT_THAT(svg, HasSubstr("0: [10, 15), size 30, offset 30"));
  EXPECT_THAT(svg, Not(HasSubstr("<title>1:")));
  EXPECT_THAT(svg, Not(HasSubstr("<title>3:")));  // inside buffer 0
}

TEST(SvgTest, DrawsNothing) {
  EXPECT_THAT(to_svg({}, {}), HasSubstr("</svg>"));
}

}  // namespace
}  // namespace neap::planner
