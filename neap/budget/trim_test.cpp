// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/trim.hpp"

#include <gtest/gtest.h>

#include "neap/budget/decoder.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/budget/ladder.hpp"
#include "neap/budget/optimum_for_test.hpp"
#include "neap/budget/problems_for_test.hpp"

namespace neap::budget {
namespace {

constexpr std::int64_t kAnything = std::int64_t{1} << 40U;

// The same runs for the same price, in no more memory.
void compare(const Problem& problem, const Schedule& schedule,
             std::int64_t& lower) {
  const Evaluation before = evaluate(problem, schedule);
  ASSERT_TRUE(before.is_good());
  const Schedule trim = trimmed(problem, schedule);
  const Evaluation after = evaluate(problem, trim);
  ASSERT_TRUE(after.is_good())
      << name_of(after.fault) << ' ' << after.run << ' ' << after.value;
  ASSERT_EQ(after.price, before.price);
  ASSERT_EQ(after.stalls, before.stalls);
  ASSERT_LE(after.peak, before.peak);
  lower += after.peak < before.peak ? 1 : 0;
  const Schedule again = trimmed(problem, trim);
  ASSERT_EQ(again.drops, trim.drops);
}

void trim_all(const Problem& problem, std::int64_t& lower) {
  Decoder decoder(problem);
  const std::int64_t full = full_memory(problem);
  for (std::int64_t target = full; target > full / 4; target -= 1 + full / 40) {
    for (int size = 0; size <= 4; ++size) {
      const Decoded* decoded = decoder.decode(
          target, {.price = 1 + size % 2, .size = size, .time = 4 - size},
          kAnything);
      if (decoded != nullptr) {
        compare(problem, decoded->schedule, lower);
      }
    }
  }
}

TEST(TrimTest, KeepsRunsAndPriceAndNeverNeedsMore) {
  std::int64_t lower = 0;
  for (std::uint32_t seed = 0; seed < 300; ++seed) {
    Problem problem = random_problem(
        seed, {.calls = 6 + static_cast<int>(seed % 20), .outputs = 2});
    if (seed % 2 == 0) {
      add_random_channel(problem, seed);
    }
    ASSERT_NO_FATAL_FAILURE(trim_all(problem, lower)) << seed;
  }
  EXPECT_GT(lower, 100);
}

// Value 0 is read by call 1 alone, and made again by nobody.
TEST(TrimTest, DropsWithTheLastReaderAndBeforeAnotherRun) {
  Problem problem = chain(2);
  Schedule kept;
  for (const std::int32_t call : {0, 1, 2, 3, 0, 4, 1, 5}) {
    kept.runs.push_back({.index = call});
  }
  ASSERT_TRUE(evaluate(problem, kept).is_good());
  const Schedule trim = trimmed(problem, kept);
  EXPECT_TRUE(evaluate(problem, trim).is_good());
  const auto drops = [&](std::size_t run) {
    const auto found = trim.drops_of(run);
    return std::vector<std::int32_t>(found.begin(), found.end());
  };
  using List = std::vector<std::int32_t>;
  EXPECT_EQ(drops(0), List());
  EXPECT_EQ(drops(1), List({0}));  // made again by run 4
}

}  // namespace
}  // namespace neap::budget
