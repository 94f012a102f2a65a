// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/report/snapshot_for_test.hpp"
#include "neap/report/written_for_test.hpp"

namespace neap::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos;
       at = text.find(part, at + part.size())) {
    ++count;
  }
  return count;
}

TEST(PictureTest, EveryBlockHasItsPlaceAndItsWords) {
  const std::string svg = written(write_svg, small_snapshot());
  EXPECT_EQ(count_of(svg, "<g>"), 4U);
  // The arena is 1 216 B high in 400 units, and a call 812 / 3 wide.
  EXPECT_THAT(svg, HasSubstr("<rect class=\"edge\" x=\"342.67\" y=\"139.16\" "
                             "width=\"541.33\" height=\"336.84\""));
  EXPECT_THAT(svg, HasSubstr("relu of fc1.act: f32 [250], 1.0 KiB (1 024 B), "
                             "calls 1 to 2, activations</title>"));
  EXPECT_THAT(svg, HasSubstr("peak: 1.2 KiB (1 216 B) at call 2, matmul of "
                             "fc2"));
}

TEST(PictureTest, ScratchIsHatched) {
  const std::string svg = written(write_svg, small_snapshot());
  EXPECT_EQ(count_of(svg, "fill=\"url(#hatch1)\""), 2U);  // and in the legend
  EXPECT_EQ(count_of(svg, "fill=\"url(#hatch2)\""), 1U);
}

TEST(PictureTest, OnlyTheLargestBlocksAreDrawn) {
  const Snapshot s = random_snapshot({.calls = 1500});
  ASSERT_GT(s.blocks.size(), 2500U);
  const std::string svg = written(write_svg, s);
  EXPECT_EQ(count_of(svg, "<g>"), 2000U);
  EXPECT_THAT(svg, HasSubstr("the largest 2 000 of "));
}

TEST(PictureTest, HasNoScriptAndNothingFromOutside) {
  for (std::uint32_t seed = 1; seed < 10; ++seed) {
    const std::string svg =
        written(write_svg, random_snapshot({.seed = seed, .is_hostile = true}));
    EXPECT_THAT(svg, Not(HasSubstr("<script")));
    EXPECT_THAT(svg, Not(HasSubstr("<img")));
    EXPECT_THAT(svg, Not(HasSubstr("href")));
    EXPECT_EQ(count_of(svg, "http"), count_of(svg, "http://www.w3.org/2000") +
                                         count_of(svg, "(http://a)"));
  }
}

TEST(PictureTest, SpacesBeyondTheFirstAreMarked) {
  const std::string svg =
      written(write_svg, random_snapshot({.seed = 2, .spaces = 2}));
  EXPECT_EQ(count_of(svg, ">space 1</text>"), 1U);
  EXPECT_EQ(count_of(svg, ">space 2</text>"), 0U);
}

}  // namespace
}  // namespace neap::report
