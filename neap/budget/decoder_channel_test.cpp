// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "neap/budget/bound.hpp"
#include "neap/budget/decoder.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/budget/ladder.hpp"
#include "neap/budget/optimum_for_test.hpp"
#include "neap/budget/problems_for_test.hpp"

namespace neap::budget {
namespace {

constexpr std::int64_t kAnything = std::int64_t{1} << 40U;

struct Counts {
  std::int64_t decoded = 0;
  std::int64_t spilled = 0;
  std::int64_t stalled = 0;
};

void compare(const Problem& problem, const Decoded& decoded,
             std::int64_t target, Counts& counts) {
  const Evaluation found = evaluate(problem, decoded.schedule);
  ASSERT_TRUE(found.is_good())
      << name_of(found.fault) << ' ' << found.run << ' ' << found.value;
  ASSERT_LE(found.peak, target);
  ASSERT_EQ(found.price, decoded.price);
  ASSERT_LE(found.written, problem.channel->most_written);
  ++counts.decoded;
  counts.spilled += found.fetched > 0 ? 1 : 0;
  counts.stalled += found.stalls > 0 ? 1 : 0;
}

void decode_with_all(const Problem& problem, Counts& counts) {
  Decoder decoder(problem);
  const std::int64_t full = full_memory(problem);
  for (std::int64_t target = full; target > full / 4; target -= 1 + full / 40) {
    const Bound bound = lower_bound(problem, target, 3);
    for (int size = 0; size <= 4; ++size) {
      Ranking ranking{.price = 1 + size % 2, .size = size, .time = 4 - size};
      ranking.channel = size - 1;
      const Decoded* decoded = decoder.decode(target, ranking, kAnything);
      if (decoded != nullptr) {
        compare(problem, *decoded, target, counts);
        EXPECT_TRUE(decoded->price >= bound.price && !bound.is_impossible);
      }
    }
  }
}

TEST(DecoderChannelTest, EveryScheduleIsWhatItSaysItIs) {
  Counts counts;
  for (std::uint32_t seed = 0; seed < 250; ++seed) {
    Problem problem = random_problem(
        seed, {.calls = 6 + static_cast<int>(seed % 20), .outputs = 2});
    add_random_channel(problem, seed);
    ASSERT_NO_FATAL_FAILURE(decode_with_all(problem, counts)) << seed;
  }
  EXPECT_GT(counts.decoded, 5000);
  EXPECT_GT(counts.spilled, 3000);
  EXPECT_GT(counts.stalled, 1000);
}

}  // namespace
}  // namespace neap::budget
