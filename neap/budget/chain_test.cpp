// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/chain.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "neap/budget/problems_for_test.hpp"

namespace neap::budget {
namespace {

std::optional<Chain> chain_of(const Problem& problem) {
  return find_chain(problem, Uses(problem));
}

TEST(ChainTest, ACellOfARecurrentNetworkIsAStage) {
  constexpr std::int32_t kCells = 40;
  const auto found = chain_of(cells(kCells));
  ASSERT_TRUE(found.has_value());
  ASSERT_EQ(found->stages(), kCells + 1);  // and the head
  EXPECT_EQ(found->state, 2);
  EXPECT_EQ(found->residual, 7);
  for (std::int32_t i = 1; i + 1 < kCells; ++i) {
    const auto at = static_cast<std::size_t>(i);
    EXPECT_EQ(found->begins[at], i + 1) << i;
    // The weights' gradient of the next cell reads what this one hands on.
    EXPECT_EQ(found->needed_at[at - 1], kCells + 2 + 2 * (kCells - i)) << i;
  }
}

TEST(ChainTest, StagesOfALongChainAreSeveralCalls) {
  const auto found = chain_of(chain(1000));
  ASSERT_TRUE(found.has_value());
  EXPECT_LE(found->stages(), 128);
  EXPECT_GE(found->stages(), 100);
  EXPECT_TRUE(std::ranges::is_sorted(found->begins));
  EXPECT_TRUE(
      std::ranges::is_sorted(found->needed_at, std::greater<std::int32_t>()));
}

TEST(ChainTest, CallsWithoutResidualsAreNone) {
  EXPECT_FALSE(chain_of({}).has_value());
  EXPECT_FALSE(chain_of(chain(2)).has_value());
  Problem forward = chain(0);
  for (std::int32_t i = 0; i < 20; ++i) {
    forward.calls.push_back({.reads = {i + 1},
                             .makes = {i + 2},
                             .take_overs = {},
                             .price = 1,
                             .scratch = 0,
                             .again_until = kAlways});
    forward.values.push_back({.size = 1});
  }
  EXPECT_FALSE(chain_of(forward).has_value());
}

}  // namespace
}  // namespace neap::budget
