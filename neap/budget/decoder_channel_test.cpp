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

TEST(DecoderChannelTest, EveryScheduleIsWhatItSaysItIs) {
  std::int64_t decoded_count = 0;
  std::int64_t spilled_count = 0;
  std::int64_t stalled_count = 0;
  for (std::uint32_t seed = 0; seed < 250; ++seed) {
    Problem problem = random_problem(
        seed, {.calls = 6 + static_cast<int>(seed % 20), .outputs = 2});
    add_random_channel(problem, seed);
    Decoder decoder(problem);
    const std::int64_t full = full_memory(problem);
    for (std::int64_t target = full; target > full / 4;
         target -= 1 + full / 40) {
      const Bound bound = lower_bound(problem, target, 3);
      for (int size = 0; size <= 4; ++size) {
        const Decoded* decoded = decoder.decode(target,
                                                {.price = 1 + size % 2,
                                                 .size = size,
                                                 .time = 4 - size,
                                                 .channel = size - 1},
                                                kAnything);
        if (decoded == nullptr) {
          continue;
        }
        const Evaluation found = evaluate(problem, decoded->schedule);
        ASSERT_TRUE(found.is_good())
            << seed << ' ' << target << ' ' << name_of(found.fault) << ' '
            << found.run << ' ' << found.value;
        ASSERT_LE(found.peak, target) << seed;
        ASSERT_EQ(found.price, decoded->price) << seed;
        ASSERT_GE(found.price, bound.price) << seed;
        ASSERT_LE(found.written, problem.channel->most_written);
        ++decoded_count;
        spilled_count += found.fetched > 0 ? 1 : 0;
        stalled_count += found.stalls > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GT(decoded_count, 5000);
  EXPECT_GT(spilled_count, 3000);
  EXPECT_GT(stalled_count, 1000);
}

}  // namespace
}  // namespace neap::budget
