// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/layout.hpp"

#include <gtest/gtest.h>

namespace neap::tensor {
namespace {

TEST(LayoutTest, DenseIsContiguous) {
  EXPECT_TRUE(is_contiguous(dense_layout(f32, {2, 3, 4})));
  EXPECT_TRUE(is_contiguous(dense_layout(f32, {})));
}

TEST(LayoutTest, PermutedSwapsShapeAndStrides) {
  const Layout t = permuted(dense_layout(f32, {2, 3}), {1, 0});
  EXPECT_EQ(t.shape, Shape({3, 2}));
  EXPECT_EQ(t.strides, Shape({1, 3}));
  EXPECT_FALSE(is_contiguous(t));
}

TEST(LayoutTest, RefusesWhatIsNoPermutation) {
  EXPECT_THROW(permuted(dense_layout(f32, {2, 3}), {0, 0}), ShapeError);
  EXPECT_THROW(permuted(dense_layout(f32, {2, 3}), {0}), ShapeError);
}

TEST(LayoutTest, SlicesLikePython) {
  const Layout d = dense_layout(f32, {10});
  EXPECT_EQ(sliced(d, 0, 2, 8, 3).shape, Shape({2}));
  EXPECT_EQ(sliced(d, 0, 2, 8, 3).offset, 2);
  EXPECT_EQ(sliced(d, 0, -3, 100, 1).shape, Shape({3}));
  EXPECT_EQ(sliced(d, 0, 7, 3, 1).shape, Shape({0}));
  EXPECT_THROW(sliced(d, 0, 0, 5, 0), ValueError);
  EXPECT_THROW(sliced(d, 1, 0, 5, 1), ShapeError);
}

TEST(LayoutTest, SlicesWithAHugeStepWithoutOverflow) {
  const Layout d = dense_layout(f32, {10, 4});
  const std::int64_t huge = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(sliced(d, 0, 0, 10, huge).shape, Shape({1, 4}));
}

TEST(LayoutTest, ExpandsWithStrideZero) {
  const Layout e = expanded(dense_layout(f32, {3, 1}), {2, 3, 5});
  EXPECT_EQ(e.strides, Shape({0, 1, 0}));
  EXPECT_THROW(expanded(dense_layout(f32, {3}), {2}), ShapeError);
}

TEST(LayoutTest, ReshapesADenseArrayWithoutACopy) {
  EXPECT_TRUE(reshaped(dense_layout(f32, {2, 6}), {3, 4}).has_value());
}

TEST(LayoutTest, ReshapesAroundATransposedAxisOnlyWhereItCan) {
  // [2, 3, 4] with the first two axes swapped: the last may still be split.
  const Layout t = permuted(dense_layout(f32, {2, 3, 4}), {1, 0, 2});
  const auto split = reshaped(t, {3, 2, 2, 2});
  ASSERT_TRUE(split.has_value());
  EXPECT_EQ(split->strides, Shape({4, 12, 2, 1}));
  EXPECT_FALSE(reshaped(t, {6, 4}).has_value());
}

TEST(LayoutTest, RefusesToReshapeToAnotherCount) {
  EXPECT_THROW(reshaped(dense_layout(f32, {2, 3}), {7}), ShapeError);
}

TEST(LayoutTest, ExtentCoversTheFarthestElement) {
  EXPECT_EQ(extent_bytes(dense_layout(f64, {2, 3})), 48);
  EXPECT_EQ(extent_bytes(dense_layout(f64, {2, 0})), 0);
  EXPECT_EQ(extent_bytes(dense_layout(f32, {})), 4);
}

}  // namespace
}  // namespace neap::tensor
