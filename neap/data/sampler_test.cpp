// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/sampler.hpp"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace neap::data {
namespace {

std::vector<std::int64_t> order_of(Sampler& sampler, std::int64_t epoch) {
  sampler.start(epoch);
  std::vector<std::int64_t> order;
  for (std::int64_t i = 0; i < sampler.size(); ++i) {
    order.push_back(sampler[i]);
  }
  return order;
}

TEST(SamplerTest, GoesInOrderUnlessShuffled) {
  Sampler sampler(4, false, 7);
  EXPECT_EQ(order_of(sampler, 3), (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(SamplerTest, ReturnsEverySampleOnce) {
  Sampler sampler(1000, true, 7);
  const auto order = order_of(sampler, 0);
  EXPECT_EQ(std::set<std::int64_t>(order.begin(), order.end()).size(), 1000U);
}

TEST(SamplerTest, DependsOnSeedAndEpochAlone) {
  Sampler a(100, true, 7);
  Sampler b(100, true, 7);
  order_of(a, 0);
  EXPECT_EQ(order_of(a, 5), order_of(b, 5));
  EXPECT_NE(order_of(a, 5), order_of(a, 6));
  Sampler c(100, true, 8);
  EXPECT_NE(order_of(a, 5), order_of(c, 5));
}

TEST(SamplerTest, PutsEverySampleEverywhereEquallyOften) {
  Sampler sampler(8, true, 1);
  std::vector<int> at_front(8);
  for (std::int64_t epoch = 0; epoch < 8000; ++epoch) {
    sampler.start(epoch);
    ++at_front[static_cast<std::size_t>(sampler[0])];
  }
  for (const int count : at_front) {
    EXPECT_NEAR(count, 1000, 150);
  }
}

TEST(SamplerTest, HoldsNoneAndRefusesTooMany) {
  Sampler none(0, true, 1);
  none.start(0);
  EXPECT_EQ(none.size(), 0);
  EXPECT_THROW(Sampler(-1, false, 1), ValueError);
  EXPECT_THROW(Sampler(std::int64_t{1} << 32, false, 1), ValueError);
}

TEST(SamplerTest, CountsItsOrderAsData) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Sampler sampler(1000, true, 1);
  EXPECT_EQ(domain->stats().live, 4000);
}

}  // namespace
}  // namespace neap::data
