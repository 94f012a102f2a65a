// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/threads/executor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <utility>
#include <vector>

#include "neap/threads/pool.hpp"

namespace neap::threads {
namespace {

using Range = std::pair<std::int64_t, std::int64_t>;

// A host program's executor: claims three threads, runs parts backwards.
class LentExecutor final : public Executor {
 public:
  int threads() const noexcept override { return 3; }
  void run(int parts, PartFunction function, void* context) noexcept override {
    for (int part = parts - 1; part >= 0; --part) {
      function(context, part);
    }
  }
};

std::vector<Range> ranges(Executor& executor, std::int64_t n,
                          std::int64_t grain) {
  std::vector<Range> found;
  parallel_for(executor, n, grain,
               [&](std::int64_t begin, std::int64_t end) noexcept {
                 found.emplace_back(begin, end);
               });
  std::sort(found.begin(), found.end());
  return found;
}

TEST(ExecutorTest, RunsPartsInOrderInTheCallersThread) {
  std::vector<int> order;
  parallel_parts(serial_executor(), 4,
                 [&](int part) noexcept { order.push_back(part); });
  EXPECT_THAT(order, testing::ElementsAre(0, 1, 2, 3));
}

TEST(ExecutorTest, SplitsAtMultiplesOfTheGrain) {
  LentExecutor lent;
  EXPECT_THAT(ranges(lent, 70, 16),
              testing::ElementsAre(Range(0, 32), Range(32, 64), Range(64, 70)));
}

TEST(ExecutorTest, MakesNoMoreRangesThanGrains) {
  LentExecutor lent;
  EXPECT_THAT(ranges(lent, 20, 16),
              testing::ElementsAre(Range(0, 16), Range(16, 20)));
  EXPECT_THAT(ranges(lent, 16, 16), testing::ElementsAre(Range(0, 16)));
}

TEST(ExecutorTest, DoesNothingForAnEmptyRange) {
  LentExecutor lent;
  EXPECT_TRUE(ranges(lent, 0, 16).empty());
  EXPECT_TRUE(ranges(lent, -5, 16).empty());
}

TEST(ExecutorTest, CoversEveryIndexOnceForAllSmallSizes) {
  LentExecutor lent;
  for (std::int64_t n = 1; n < 60; ++n) {
    for (std::int64_t grain = 1; grain < 20; ++grain) {
      std::int64_t next = 0;
      for (const auto& [begin, end] : ranges(lent, n, grain)) {
        ASSERT_EQ(begin, next) << "n " << n << ", grain " << grain;
        ASSERT_LT(begin, end);
        ASSERT_EQ(begin % grain, 0);
        next = end;
      }
      ASSERT_EQ(next, n);
    }
  }
}

TEST(ExecutorTest, HandlesTheLargestSizeWithoutOverflow) {
  LentExecutor lent;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const auto found = ranges(lent, kMost, 1 << 20);
  ASSERT_EQ(found.size(), 3U);
  EXPECT_EQ(found.back().second, kMost);
}

}  // namespace
}  // namespace neap::threads
