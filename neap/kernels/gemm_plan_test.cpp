// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/gemm_plan.hpp"

#include <gtest/gtest.h>

namespace neap::kernels {
namespace {

constexpr GemmTile kTile{.rows = 12, .lanes = 16};

GemmExtents extents(std::int64_t batch, std::int64_t m, std::int64_t n,
                    std::int64_t k) {
  return {.batch = batch, .m = m, .n = n, .k = k};
}

TEST(GemmPlanTest, CoversTheProductWithoutEmptyParts) {
  for (const std::int64_t batch : {1, 2, 7}) {
    for (const std::int64_t m : {1, 5, 12, 129, 1000}) {
      for (const std::int64_t n : {1, 10, 16, 17, 1000}) {
        for (const int threads : {1, 2, 3, 8, 61}) {
          const GemmPlan plan =
              plan_gemm(extents(batch, m, n, 5000), kTile, threads);
          ASSERT_LE(plan.parts(), threads);
          ASSERT_GE(plan.batch_parts * plan.part_batch, batch);
          ASSERT_GE(plan.row_parts * plan.part_rows, m);
          ASSERT_GE(plan.column_parts * plan.part_columns, n);
          ASSERT_LT((plan.batch_parts - 1) * plan.part_batch, batch);
          ASSERT_LT((plan.row_parts - 1) * plan.part_rows, m);
          ASSERT_LT((plan.column_parts - 1) * plan.part_columns, n);
        }
      }
    }
  }
}

TEST(GemmPlanTest, HasNoPartsWhereCIsEmpty) {
  EXPECT_EQ(plan_gemm(extents(0, 4, 4, 4), kTile, 2).parts(), 0);
  EXPECT_EQ(plan_gemm(extents(1, 0, 4, 4), kTile, 2).parts(), 0);
  EXPECT_EQ(plan_gemm(extents(1, 4, 0, 4), kTile, 2).parts(), 0);
  EXPECT_EQ(plan_gemm(extents(1, 4, 4, 0), kTile, 2).parts(), 1);
}

TEST(GemmPlanTest, UsesAllThreadsForLargeProductsOfAnyForm) {
  EXPECT_EQ(plan_gemm(extents(1, 1000, 1000, 1000), kTile, 2).parts(), 2);
  EXPECT_EQ(plan_gemm(extents(1, 10, 1000, 1000), kTile, 2).parts(), 2);
  EXPECT_EQ(plan_gemm(extents(1, 1000, 10, 1000), kTile, 2).parts(), 2);
  EXPECT_EQ(plan_gemm(extents(64, 100, 10, 100), kTile, 2).parts(), 2);
}

TEST(GemmPlanTest, RunsSmallProductsInOneThread) {
  EXPECT_EQ(plan_gemm(extents(1, 16, 16, 16), kTile, 8).parts(), 1);
}

TEST(GemmPlanTest, BoundsTheScratchOfEveryPart) {
  for (const std::int64_t size : {100, 784, 4096, 100000}) {
    const GemmPlan plan = plan_gemm(extents(1, size, size, size), kTile, 2);
    EXPECT_LE(plan.part_bytes(), 288 * kKiB);
  }
}

TEST(GemmPlanTest, ReadsBWhereItLiesForOnePanelOfRows) {
  GemmExtents thin = extents(1, 12, 256, 128);
  thin.b_rows_are_dense = true;
  EXPECT_FALSE(plan_gemm(thin, kTile, 1).packs_b);
  thin.m = 13;
  EXPECT_TRUE(plan_gemm(thin, kTile, 1).packs_b);
}

}  // namespace
}  // namespace neap::kernels
