// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/budget.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "neap/base/external.hpp"
#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

Domain::Handle pooled() {
  return Domain::create({.host = HostAllocator::kPooled});
}

Tag tag(Category category = Category::kActivations, OwnerId owner = {}) {
  return {.category = category, .owner = owner, .site = base::SiteId{1}};
}

void expect_same(const Stats& a, const Stats& b) {
  EXPECT_EQ(a.live, b.live);
  EXPECT_EQ(a.held, b.held);
  EXPECT_EQ(a.idle, b.idle);
  EXPECT_EQ(a.books, b.books);
  EXPECT_EQ(a.peak, b.peak);
  EXPECT_EQ(a.live_peak, b.live_peak);
  EXPECT_EQ(a.live_blocks, b.live_blocks);
  EXPECT_EQ(a.allocations, b.allocations);
  EXPECT_EQ(a.system_calls, b.system_calls);
}

TEST(BudgetTest, GrantsExactlyUpToTheBudgetAndNotOneByteMore) {
  const auto domain = pooled();
  domain->release(domain->allocate(kMiB, tag()));
  domain->trim();
  const Bytes floor = domain->stats().held + base::external_bytes();
  domain->set_budget(floor + kMiB - 1);
  const Stats before = domain->stats();
  EXPECT_THROW(domain->allocate(kMiB, tag()), OutOfMemory);
  expect_same(domain->stats(), before);
  domain->set_budget(floor + kMiB);
  domain->release(domain->allocate(kMiB, tag()));
}

TEST(BudgetTest, CountsItsBooksIntoTheBudget) {
  const auto domain = pooled();
  domain->set_budget(base::external_bytes() + 40 * kKiB);
  // A slab alone would fit; with the first pages of the ledger it does not.
  EXPECT_THROW(domain->allocate(64, tag()), OutOfMemory);
  EXPECT_EQ(domain->stats().held, 0);
}

TEST(BudgetTest, NeverHoldsMoreThanTheBudgetUnderRandomUse) {
  const auto domain = pooled();
  const Bytes budget = base::external_bytes() + 3 * kMiB;
  domain->set_budget(budget);
  std::vector<Block> blocks;
  TestRandom random(9);
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (random() % 5 < 3) {
      const auto size =
          static_cast<Bytes>(random() % (random() % 3 == 0 ? 600'000 : 4000));
      try {
        Tag t = tag();
        t.site = base::SiteId{static_cast<std::uint32_t>(1 + random() % 3000)};
        blocks.push_back(domain->allocate(size, t));
      } catch (const OutOfMemory&) {
        ++refused;
      }
    } else if (!blocks.empty()) {
      const std::size_t at = random() % blocks.size();
      domain->release(blocks[at]);
      blocks[at] = blocks.back();
      blocks.pop_back();
    }
    const Stats s = domain->stats();
    ASSERT_LE(s.peak + s.external, budget);
  }
  EXPECT_GT(refused, 0);
  EXPECT_TRUE(domain->is_consistent());
  for (const Block& block : blocks) {
    domain->release(block);
  }
}

TEST(BudgetTest, TrimsIdlePagesBeforeItRefuses) {
  const auto domain = pooled();
  domain->set_budget(base::external_bytes() + 3 * kMiB + 64 * kKiB);
  const Block a = domain->allocate(kMiB, tag());
  const Block b = domain->allocate(kMiB, tag());
  domain->release(a);
  domain->release(b);
  EXPECT_EQ(domain->stats().idle, 2 * kMiB);
  const Block large = domain->allocate(3 * kMiB, tag());
  EXPECT_EQ(domain->stats().idle, 0);
  domain->release(large);
}

// The process's own bytes beside the domain count as much as those it holds.
TEST(BudgetTest, ReturnsIdlePagesAtOnceWhereTheyAreOverANewBudget) {
  const auto domain = pooled();
  domain->release(domain->allocate(8 * kMiB, tag()));
  const Stats before = domain->stats();
  EXPECT_EQ(before.idle, 8 * kMiB);
  domain->set_budget(before.held + base::external_bytes());
  EXPECT_EQ(domain->stats().idle, 8 * kMiB);
  domain->set_budget(before.held + base::external_bytes() - 1);
  EXPECT_EQ(domain->stats().idle, 0);
}

TEST(BudgetTest, GrantsBlocksOfNoBytesWhenItIsSpent) {
  const auto domain = pooled();
  domain->release(domain->allocate(0, tag()));
  domain->set_budget(domain->stats().held + base::external_bytes());
  domain->release(domain->allocate(0, tag()));
  EXPECT_THROW(domain->allocate(1, tag()), OutOfMemory);
}

TEST(BudgetTest, SaysWhoHoldsTheMemoryThatIsNotThere) {
  const auto domain = pooled();
  const OwnerId fc1 = domain->owner("fc1");
  const Block weights = domain->allocate(
      2 * kMiB, tag(Category::kParameters, domain->owner("fc1.weight")));
  const Block inputs = domain->allocate(kMiB, tag(Category::kInputs));
  const Bytes held = domain->stats().held;
  const Budget budget(held + base::external_bytes() + kMiB, *domain);
  try {
    domain->allocate(4 * kMiB, tag(Category::kActivations, fc1));
    FAIL();
  } catch (const OutOfMemory& error) {
    const auto& d = error.details();
    EXPECT_EQ(d.reason, OutOfMemory::Reason::kBudget);
    EXPECT_EQ(d.requested, 4 * kMiB);
    EXPECT_EQ(d.live, 3 * kMiB);
    EXPECT_EQ(d.held, held);
    EXPECT_EQ(d.budget, domain->budget());
    EXPECT_STREQ(d.owner.data(), "fc1");
    EXPECT_STREQ(d.holders[0].owner.data(), "fc1.weight");
    EXPECT_EQ(d.holders[0].bytes, 2 * kMiB);
    EXPECT_EQ(d.holders[1].category, Category::kInputs);
    EXPECT_EQ(d.holders[2].bytes, 0);
  }
  domain->release(weights);
  domain->release(inputs);
}

TEST(BudgetTest, NeverLiftsTheOuterBound) {
  const auto domain = pooled();
  const Budget outer(kMiB, *domain);
  {
    const Budget inner(kGiB, *domain);
    EXPECT_EQ(domain->budget(), kMiB);
    EXPECT_THROW(domain->allocate(2 * kMiB, tag()), OutOfMemory);
  }
  EXPECT_EQ(domain->budget(), kMiB);
}

TEST(BudgetTest, RestoresTheOuterBound) {
  const auto domain = pooled();
  {
    const Budget outer(kGiB, *domain);
    {
      const Budget inner(kMiB, *domain);
      EXPECT_EQ(domain->budget(), kMiB);
    }
    EXPECT_EQ(domain->budget(), kGiB);
  }
  EXPECT_EQ(domain->budget(), kUnlimited);
}

}  // namespace
}  // namespace neap::memory
