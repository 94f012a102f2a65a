// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/budget/chain_seed.hpp"

#include <gtest/gtest.h>

#include "neap/budget/bound.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/budget/ladder.hpp"
#include "neap/budget/optimum_for_test.hpp"
#include "neap/budget/problems_for_test.hpp"
#include "neap/budget/trim.hpp"
#include "neap/memory/domain.hpp"

namespace neap::budget {
namespace {

// The price of all calls once.
std::int64_t price_of(const Problem& problem) {
  std::int64_t price = 0;
  for (const Call& call : problem.calls) {
    price += call.price;
  }
  return price;
}

// Looks at every hundredth of what a problem takes with all values kept.
void expect_right(const Problem& problem) {
  const ChainSeeds seeds(problem);
  const std::int64_t full = full_memory(problem);
  std::int64_t last = 0;
  for (int percent = 100; percent > 0; --percent) {
    const std::int64_t target = full * percent / 100;
    const std::optional<Found> found = seeds.within(target);
    if (!found) {
      continue;
    }
    const Evaluation seen = evaluate(problem, found->schedule);
    ASSERT_TRUE(seen.is_good()) << name_of(seen.fault);
    EXPECT_EQ(seen.price, found->price);
    EXPECT_LE(seen.peak, target);
    EXPECT_GE(seen.price, lower_bound(problem, target).price);
    EXPECT_GE(found->price, last) << percent;
    EXPECT_EQ(trimmed(problem, found->schedule).drops, found->schedule.drops);
    last = found->price;
  }
}

TEST(ChainSeedTest, EveryScheduleIsWhatItSaysItIs) {
  expect_right(chain(60));
  expect_right(cells(50));
  Problem limited = cells(50);  // a cell's weights are written in backward
  for (std::size_t i = 0; i < limited.calls.size(); ++i) {
    limited.calls[i].again_until =
        i % 9 == 0 ? kNever : static_cast<std::int32_t>(120 + i % 7);
  }
  expect_right(limited);
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    expect_right(random_problem(seed, {.calls = 60, .outputs = 2}));
  }
}

// Forward is about half of a step. Once more is enough down to a third.
TEST(ChainSeedTest, CellsRunAboutOnceMore) {
  const Problem problem = cells(100);
  const ChainSeeds seeds(problem);
  const std::int64_t full = full_memory(problem);
  for (const int percent : {80, 50, 30}) {
    const std::int64_t target = full * percent / 100;
    const std::optional<Found> found = seeds.within(target);
    ASSERT_TRUE(found.has_value()) << percent;
    EXPECT_LE(found->price,
              lower_bound(problem, target).price + price_of(problem) / 25)
        << percent;
  }
  const std::optional<Found> low = seeds.within(full / 10);
  ASSERT_TRUE(low.has_value());
  EXPECT_LE(low->price, 2 * price_of(problem));
}

TEST(ChainSeedTest, ALowTargetIsCheaperThanByWalksAlone) {
  const Problem problem = cells(60);
  const std::int64_t target = full_memory(problem) * 15 / 100;
  const auto walked = search(problem, target, {.walks = 50});
  const auto found = ChainSeeds(problem).within(target);
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(!walked || found->price < walked->price);
}

TEST(ChainSeedTest, NoRungOfALadderCostsMore) {
  const Problem problem = cells(30);
  const ChainSeeds seeds(problem);
  std::int64_t beaten = 0;
  for (const Rung& rung : ladder(problem, {.search = {.walks = 50}})) {
    const auto seed = seeds.within(rung.target);
    EXPECT_TRUE(!seed || rung.found.price <= seed->price) << rung.target;
    const auto walked = search(problem, rung.target, {.walks = 50});
    EXPECT_TRUE(!walked || rung.found.price <= walked->price) << rung.target;
    beaten += walked && rung.found.price < walked->price ? 1 : 0;
  }
  EXPECT_GT(beaten, 0);
}

TEST(ChainSeedTest, FreesEverythingWhereverMemoryEnds) {
  const auto domain = memory::Domain::create();
  const memory::UseDomain use(*domain);
  const Problem problem = cells(12);
  const Bytes live = domain->stats().live;
  for (std::int64_t n = 1;; ++n) {
    domain->fail_at(n);
    try {
      const ChainSeeds seeds(problem);
      const auto found = seeds.within(full_memory(problem) / 2);
      domain->fail_at(0);
      EXPECT_TRUE(found.has_value());
      EXPECT_GT(n, 20);
      break;
    } catch (const OutOfMemory&) {
      domain->fail_at(0);
      EXPECT_EQ(domain->stats().live, live) << n;
    }
  }
}

}  // namespace
}  // namespace neap::budget
