// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/growth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "neap/report/ledger_rows.hpp"

namespace neap::report {
namespace {

using testing::HasSubstr;

class GrowthTest : public testing::Test {
 protected:
  void TearDown() override {
    for (const memory::Block& block : blocks_) {
      domain_->release(block);
    }
  }

  memory::Tag tag(std::string_view owner, CallSite site = CallSite::here()) {
    return {.category = memory::Category::kActivations,
            .owner = domain_->owner(owner),
            .site = base::intern(site)};
  }
  void leak(Bytes bytes, const memory::Tag& tag) {
    blocks_.push_back(domain_->allocate(bytes, tag));
  }

  memory::Domain::Handle domain_ = memory::Domain::create();
  std::vector<memory::Block> blocks_;
};

TEST_F(GrowthTest, SaysNothingOfAFlatLoop) {
  Growth growth(*domain_);
  for (int i = 0; i < 20; ++i) {
    domain_->release(domain_->allocate(100 * (i % 3), tag("fc1")));
    growth.step();
  }
  EXPECT_EQ(growth.format(), "");
  EXPECT_EQ(growth.steps(), 20);
  EXPECT_EQ(growth.compared(), 16);
}

TEST_F(GrowthTest, NamesOwnerAndLineOfWhatGrowsInEveryStep) {
  Growth growth(*domain_);
  const memory::Tag leaked = tag("fc1");
  const memory::Tag kept = tag("fc2");
  leak(1000, kept);
  for (int i = 0; i < 13; ++i) {
    leak(64, leaked);
    growth.step();
  }
  ASSERT_EQ(growth.rows().size(), 1U);
  EXPECT_EQ(growth.rows()[0].bytes, 576);
  EXPECT_EQ(growth.rows()[0].blocks, 9);
  EXPECT_EQ(growth.rows()[0].last, 13);
  EXPECT_EQ(growth.format(),
            "growth: 576 B and 9 blocks in 9 steps after 3 of warm-up\n"
            "  bytes  blocks  steps  last  category     owner  made at\n"
            "    576       9      9    13  activations  'fc1'  " +
                base::format_site(leaked.site) +
                "\n  0 tensors more in the whole program\n");
}

TEST_F(GrowthTest, FindsWhatGrowsInEveryTenthStepAlone) {
  Growth growth(*domain_);
  const memory::Tag leaked = tag("rare");
  for (int i = 0; i < 50; ++i) {
    if (i % 10 == 9) {
      leak(8, leaked);
    }
    growth.step();
  }
  EXPECT_THAT(growth.format(), HasSubstr("'rare'"));
}

TEST_F(GrowthTest, LeavesOutWhatFilledUpAndRests) {
  Growth growth(*domain_);
  const memory::Tag cache = tag("cache");
  for (int i = 0; i < 40; ++i) {
    if (i < 12) {
      leak(8, cache);
    }
    growth.step();
    if (i == 11) {
      EXPECT_TRUE(growth.has_grown());
    }
  }
  EXPECT_EQ(growth.format(), "");
}

TEST_F(GrowthTest, LeavesOutWhatGoesUpAndDown) {
  Growth growth(*domain_);
  const memory::Tag window = tag("window");
  for (int i = 0; i < 40; ++i) {
    leak(8, window);
    if (i % 5 == 4) {
      domain_->release(blocks_.back());
      blocks_.pop_back();
      domain_->release(blocks_.back());
      blocks_.pop_back();
    }
    growth.step();
  }
  EXPECT_EQ(growth.format(), "");
}

// The size of what is kept besides varies; the number of blocks does not lie.
TEST_F(GrowthTest, FindsBlocksThatAddUpUnderBytesThatVary) {
  Growth growth(*domain_);
  const memory::Tag mixed = tag("mixed");
  memory::Block batch = domain_->allocate(1, mixed);
  for (int i = 0; i < 20; ++i) {
    domain_->release(batch);
    batch = domain_->allocate(1000 + 500 * (i % 2), mixed);
    leak(8, mixed);
    growth.step();
  }
  ASSERT_EQ(growth.rows().size(), 1U);
  EXPECT_EQ(growth.rows()[0].blocks, 16);
  domain_->release(batch);
}

TEST_F(GrowthTest, CutsALongTable) {
  Growth growth(*domain_, {.warm_up = 0, .max_rows = 2});
  for (int i = 0; i < 3; ++i) {
    for (const char* owner : {"a", "b", "c", "d", "e"}) {
      leak(8, tag(owner));
    }
    growth.step();
  }
  EXPECT_THAT(growth.format(), HasSubstr("80 B and 10 blocks"));
  EXPECT_THAT(growth.format(), HasSubstr("  ... and 3 rows more\n"));
}

TEST_F(GrowthTest, LooksWithoutChangingTheDomain) {
  const auto before = domain_->stats();
  const Bytes reports = report_domain().stats().live;
  {
    Growth growth(*domain_);
    for (int i = 0; i < 10; ++i) {
      growth.step();
    }
    EXPECT_EQ(growth.format(), "");
  }
  EXPECT_EQ(domain_->stats().allocations, before.allocations);
  EXPECT_EQ(domain_->stats().held, before.held);
  EXPECT_EQ(report_domain().stats().live, reports);
}

}  // namespace
}  // namespace neap::report
