// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/restores.hpp"

#include <gtest/gtest.h>

#include "neap/budget/optimum_for_test.hpp"

namespace neap::budget {
namespace {

// Beside prices that are computed anew each time, while values come and go.
TEST(RestoresTest, KeptPricesAreThoseComputedAnew) {
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();
  std::int64_t within = 0;
  std::int64_t beyond = 0;
  for (std::uint32_t seed = 0; seed < 60; ++seed) {
    const Problem problem = random_problem(seed, {.calls = 25});
    const Uses uses(problem);
    Restores kept(problem, uses);
    kept.begin({});
    memory::Vector<Place> places(problem.values.size(), Place::kMemory);
    std::mt19937 random(seed);
    const auto count = static_cast<std::uint32_t>(places.size());
    for (int i = 0; i < 400; ++i) {
      const std::size_t moved = random() % count;
      const bool is_there = places[moved] == Place::kMemory;
      places[moved] = is_there ? Place::kNowhere : Place::kMemory;
      const auto v = static_cast<std::int32_t>(moved);
      is_there ? kept.dropped(v) : kept.added(v);
      const auto asked = static_cast<std::int32_t>(random() % count);
      const auto position = static_cast<std::int32_t>(random() % 26);
      const std::int64_t most =
          random() % 3 == 0 ? kAny : static_cast<std::int64_t>(random() % 2500);
      Restores fresh(problem, uses);
      fresh.begin({});
      const auto expected = fresh.log_price(asked, position, places, kAny);
      const auto found = kept.log_price(asked, position, places, most);
      if (expected && *expected <= most) {
        ASSERT_EQ(found, expected) << seed << ' ' << i;
        ++within;
      } else {
        ASSERT_FALSE(found.has_value()) << seed << ' ' << i;
        ++beyond;
      }
    }
  }
  EXPECT_GT(within, 1000);
  EXPECT_GT(beyond, 1000);
}

}  // namespace
}  // namespace neap::budget
