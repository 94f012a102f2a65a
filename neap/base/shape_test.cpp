// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/shape.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace neap {
namespace {

using base::broadcast;
using base::broadcasts_to;
using base::normalize_axis;
using base::row_major_strides;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

std::string message_of_broadcast(const Shape& a, const Shape& b) {
  try {
    broadcast("add", a, b);
  } catch (const ShapeError& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(ShapeTest, HoldsExtentsInOrder) {
  const Shape shape = {2, 3, 5};
  EXPECT_EQ(shape.rank(), 3);
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape.back(), 5);
  EXPECT_EQ(shape.back(3), 2);
  EXPECT_EQ(shape.span().size(), 3U);
  EXPECT_EQ(Shape(shape.span()), shape);
}

TEST(ShapeTest, ComparesRankAndExtents) {
  EXPECT_EQ((Shape{2, 3}), (Shape{2, 3}));
  EXPECT_NE((Shape{2, 3}), (Shape{3, 2}));
  EXPECT_NE((Shape{2}), (Shape{2, 1}));
  EXPECT_EQ(Shape(), Shape{});
  EXPECT_EQ(Shape::filled(3, 4), (Shape{4, 4, 4}));
}

TEST(ShapeTest, InsertsAndErasesAxesAnywhere) {
  Shape shape = {2, 5};
  shape.insert(1, 3);
  shape.insert(0, 1);
  shape.push_back(7);
  EXPECT_EQ(shape, (Shape{1, 2, 3, 5, 7}));
  shape.erase(4);
  shape.erase(0);
  shape.erase(1);
  EXPECT_EQ(shape, (Shape{2, 5}));
}

TEST(ShapeTest, TakesEightAxesAndRefusesTheNinth) {
  Shape shape = Shape::filled(kMaxRank, 1);
  EXPECT_THROW(shape.push_back(1), ShapeError);
  EXPECT_THROW(shape.insert(0, 1), ShapeError);
  EXPECT_EQ(shape, Shape::filled(kMaxRank, 1));
  EXPECT_THROW(Shape(std::vector<std::int64_t>(9, 1)), ShapeError);
}

TEST(ShapeTest, CountsElements) {
  EXPECT_EQ(Shape().element_count(), 1);
  EXPECT_EQ((Shape{2, 3, 5}).element_count(), 30);
  EXPECT_EQ((Shape{2, 0, 5}).element_count(), 0);
}

TEST(ShapeTest, RefusesCountsThatOverflowOrAreNegative) {
  EXPECT_EQ((Shape{kMax / 2, 2}).element_count(), kMax - 1);
  EXPECT_THROW(std::ignore = (Shape{kMax / 2 + 1, 2}).element_count(),
               ShapeError);
  EXPECT_THROW(std::ignore = (Shape{3, -1}).element_count(), ShapeError);
  EXPECT_THROW(std::ignore = (Shape{-1, -1}).element_count(), ShapeError);
}

TEST(ShapeTest, HoldsNoElementsWhereOneExtentIsZero) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_EQ((Shape{kHuge, kHuge, 0}).element_count(), 0);
  EXPECT_EQ((Shape{0, kHuge, kHuge}).element_count(), 0);
  EXPECT_THROW(std::ignore = (Shape{kHuge, kHuge, 0, -1}).element_count(),
               ShapeError);
}

TEST(ShapeTest, PrintsLikeAList) {
  EXPECT_EQ(format_shape({}), "[]");
  EXPECT_EQ(format_shape({7}), "[7]");
  EXPECT_EQ(format_shape({2, 3}), "[2, 3]");
}

TEST(StridesTest, AreRowMajor) {
  EXPECT_EQ(row_major_strides({2, 3, 5}), (Shape{15, 5, 1}));
  EXPECT_EQ(row_major_strides({7}), (Shape{1}));
  EXPECT_EQ(row_major_strides({}), Shape());
}

TEST(StridesTest, StepOverEmptyAxesAsIfTheyHeldOne) {
  EXPECT_EQ(row_major_strides({2, 0, 5}), (Shape{5, 5, 1}));
}

TEST(StridesTest, NeverOverflowInAnEmptyArray) {
  constexpr std::int64_t kHuge = std::int64_t{1} << 40;
  EXPECT_EQ(row_major_strides({kHuge, kHuge, 0}), (Shape{kHuge, 1, 1}));
  EXPECT_EQ(row_major_strides({0, 2, kHuge, kHuge}).rank(), 4);
}

TEST(StridesTest, RefuseStepsThatOverflow) {
  EXPECT_THROW(row_major_strides({2, kMax, 2}), ShapeError);
}

TEST(BroadcastTest, FollowsNumpysRule) {
  EXPECT_EQ(broadcast("add", {2, 3}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast("add", {2, 3}, {3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast("add", {5, 1, 3}, {4, 1}), (Shape{5, 4, 3}));
  EXPECT_EQ(broadcast("add", {}, {2, 3}), (Shape{2, 3}));
  EXPECT_EQ(broadcast("add", {}, {}), Shape());
}

TEST(BroadcastTest, StretchesOneToZeroButNothingElse) {
  EXPECT_EQ(broadcast("add", {0, 3}, {1, 3}), (Shape{0, 3}));
  EXPECT_THROW(broadcast("add", {0}, {2}), ShapeError);
}

TEST(BroadcastTest, NamesTheOpBothShapesAndTheAxis) {
  EXPECT_EQ(message_of_broadcast({2, 3}, {4, 3}),
            "add: shapes [2, 3] and [4, 3] do not broadcast (axis -2: 2 "
            "against 4)");
}

TEST(BroadcastTest, TellsWhatBroadcastsToAShape) {
  EXPECT_TRUE(broadcasts_to({3}, {2, 3}));
  EXPECT_TRUE(broadcasts_to({}, {2, 3}));
  EXPECT_TRUE(broadcasts_to({2, 1}, {2, 0}));
  EXPECT_FALSE(broadcasts_to({2, 3}, {3}));
  EXPECT_FALSE(broadcasts_to({2, 3}, {1, 3}));
  EXPECT_FALSE(broadcasts_to({2}, {2, 3}));
}

TEST(AxisTest, CountsNegativeAxesFromTheEnd) {
  EXPECT_EQ(normalize_axis("sum", 0, 3), 0);
  EXPECT_EQ(normalize_axis("sum", 2, 3), 2);
  EXPECT_EQ(normalize_axis("sum", -1, 3), 2);
  EXPECT_EQ(normalize_axis("sum", -3, 3), 0);
}

TEST(AxisTest, RefusesAxesOutOfRange) {
  EXPECT_THROW(normalize_axis("sum", 3, 3), ShapeError);
  EXPECT_THROW(normalize_axis("sum", -4, 3), ShapeError);
  EXPECT_THROW(normalize_axis("sum", 0, 0), ShapeError);
  EXPECT_THROW(normalize_axis("sum", 1LL << 40, 3), ShapeError);
}

}  // namespace
}  // namespace neap
