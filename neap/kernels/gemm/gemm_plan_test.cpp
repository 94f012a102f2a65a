// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/kernels/gemm/gemm_plan.hpp"

#include <gtest/gtest.h>

namespace neap::kernels {
namespace {

constexpr GemmTile kTile{.rows = 12, .lanes = 16};

GemmExtents extents(std::int64_t batch, std::int64_t m, std::int64_t n,
                    std::int64_t k) {
  return {.batch = batch,
          .m = m,
          .n = n,
          .k = k,
          .a_row_stride = k,
          .a_column_stride = 1,
          .b_row_stride = n,
          .b_column_stride = 1};
}

// B lies as its transpose does.
GemmExtents b_along(GemmExtents x) {
  x.b_row_stride = 1;
  x.b_column_stride = x.k;
  return x;
}

// Without empty parts, and each element of C in one.
void expect_cover(const GemmExtents& x, const GemmPlan& plan) {
  const std::int64_t rows = plan.swaps ? x.n : x.m;
  const std::int64_t columns = plan.swaps ? x.m : x.n;
  ASSERT_GE(plan.batch_parts * plan.part_batch, x.batch);
  ASSERT_GE(plan.row_parts * plan.part_rows, rows);
  ASSERT_GE(plan.column_parts * plan.part_columns, columns);
  ASSERT_LT((plan.batch_parts - 1) * plan.part_batch, x.batch);
  ASSERT_LT((plan.row_parts - 1) * plan.part_rows, rows);
  ASSERT_LT((plan.column_parts - 1) * plan.part_columns, columns);
  ASSERT_LE(plan.tile_rows, kTile.rows);
}

TEST(GemmPlanTest, CoversTheProductWithoutEmptyParts) {
  for (const std::int64_t batch : {1, 2, 7}) {
    for (const std::int64_t m : {1, 5, 12, 129, 1000}) {
      for (const std::int64_t n : {1, 10, 16, 17, 1000}) {
        for (const int threads : {1, 2, 3, 8, 61}) {
          const GemmExtents plain = extents(batch, m, n, 5000);
          for (const GemmExtents& x : {plain, b_along(plain)}) {
            const GemmPlan plan = plan_gemm(x, kTile, threads);
            ASSERT_LE(plan.parts(), threads);
            expect_cover(x, plan);
          }
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
    EXPECT_LE(plan.part_bytes(), 416 * kKiB);
  }
}

TEST(GemmPlanTest, BoundsTheScratchOfFewRowsAndOfSwappedProducts) {
  for (const std::int64_t m : {1, 12, 64, 96}) {
    GemmExtents x = extents(1, m, 4096, 4096);
    EXPECT_LE(plan_gemm(x, kTile, 1).part_bytes(), 424 * kKiB) << m;
    x.a_row_stride = 1;
    x.a_column_stride = m;
    EXPECT_LE(plan_gemm(x, kTile, 1).part_bytes(), 424 * kKiB) << m;
    EXPECT_LE(plan_gemm(b_along(x), kTile, 1).part_bytes(), 424 * kKiB) << m;
    EXPECT_LE(plan_gemm(x.swapped(), kTile, 1).part_bytes(), 424 * kKiB) << m;
  }
}

TEST(GemmPlanTest, ReadsBWhereItLiesForFewRows) {
  EXPECT_FALSE(plan_gemm(extents(1, 64, 256, 128), kTile, 1).packs_b);
  EXPECT_TRUE(plan_gemm(extents(1, 512, 256, 128), kTile, 1).packs_b);
  EXPECT_TRUE(plan_gemm(b_along(extents(1, 512, 256, 128)), kTile, 1).packs_b);
}

TEST(GemmPlanTest, ReadsAWhereItLiesUnlessItsRowsShareCacheLines) {
  GemmExtents x = extents(1, 512, 256, 784);
  EXPECT_EQ(plan_gemm(x, kTile, 1).source_of_a, GemmSourceOfA::kAlong);
  x.a_row_stride = 1024;
  EXPECT_EQ(plan_gemm(x, kTile, 1).source_of_a, GemmSourceOfA::kPacked);
  x.a_row_stride = 1;
  x.a_column_stride = 512;
  EXPECT_EQ(plan_gemm(x, kTile, 1).source_of_a, GemmSourceOfA::kPacked);
  x.n = 64;
  EXPECT_EQ(plan_gemm(x, kTile, 1).source_of_a, GemmSourceOfA::kAcross);
  x.a_column_stride = 2;
  x.a_row_stride = 2000;
  EXPECT_EQ(plan_gemm(x, kTile, 1).source_of_a, GemmSourceOfA::kPacked);
}

TEST(GemmPlanTest, SwapsWhereBLiesAlongKAndCHasFewRows) {
  EXPECT_TRUE(plan_gemm(b_along(extents(1, 32, 1024, 256)), kTile, 1).swaps);
  EXPECT_FALSE(plan_gemm(b_along(extents(1, 512, 512, 784)), kTile, 1).swaps);
  EXPECT_FALSE(plan_gemm(extents(1, 32, 1024, 256), kTile, 1).swaps);
}

TEST(GemmPlanTest, SwapsWhereCHasFewerColumnsThanAVectorHasLanes) {
  EXPECT_TRUE(plan_gemm(extents(1, 512, 10, 256), kTile, 1).swaps);
  EXPECT_FALSE(plan_gemm(extents(1, 10, 512, 256), kTile, 1).swaps);
}

}  // namespace
}  // namespace neap::kernels
