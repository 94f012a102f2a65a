// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A reduction over a short leading axis of a view with gaps gathered more
// columns at a time than its buffers on the stack hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using ::testing::Each;

constexpr std::int64_t kColumns = 20'000;

std::vector<float> values_of(const Tensor& tensor) {
  const Tensor dense = contiguous(tensor);
  const auto values = dense.values<float>();
  return {values.begin(), values.end()};
}

TEST(StridedColumnsOverranTest, AnyShortAxis) {
  for (std::int64_t rows = 1; rows <= 9; ++rows) {
    const Tensor gapped = slice(ones({rows, 2 * kColumns}), 1, 0, kEnd, 2);
    EXPECT_THAT(values_of(sum(gapped, {0})), Each(static_cast<float>(rows)));
    EXPECT_THAT(values_of(amax(gapped, {0})), Each(1.0F));
    EXPECT_THAT(values_of(mean(gapped, {0})), Each(1.0F));
  }
}

TEST(StridedColumnsOverranTest, AnyShortAxisOfATransposedView) {
  for (std::int64_t rows = 1; rows <= 9; ++rows) {
    const Tensor turned = transpose(ones({kColumns, rows}));
    EXPECT_THAT(values_of(sum(turned, {0})), Each(static_cast<float>(rows)));
    EXPECT_THAT(values_of(sum(transpose(ones({rows, kColumns})), {1})),
                Each(static_cast<float>(rows)));
  }
}

// Kept random elements are those of the logical position, tiles or not.
TEST(StridedColumnsOverranTest, DropoutOfATransposedViewIsThatOfItsCopy) {
  const Tensor turned = transpose(ones({300, 500}));
  Generator generator(7);
  Tensor from_view;
  {
    const UseGenerator use(generator);
    from_view = dropout(turned, 0.5);
  }
  Generator again(7);
  const UseGenerator use(again);
  EXPECT_EQ(values_of(from_view), values_of(dropout(contiguous(turned), 0.5)));
}

}  // namespace
}  // namespace neap
