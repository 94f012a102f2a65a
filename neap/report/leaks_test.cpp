// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/leaks.hpp"

#include <gtest/gtest.h>

namespace neap::report {
namespace {

memory::Tag tag_here(memory::Category category,
                     CallSite site = CallSite::here()) {
  return {.category = category, .site = base::intern(site)};
}

TEST(LeaksTest, FindsNothingWhereAllWentBack) {
  auto domain = memory::Domain::create();
  const Baseline baseline(*domain);
  domain->release(domain->allocate(100, tag_here(memory::Category::kOther)));
  EXPECT_EQ(baseline.format(), "");
}

TEST(LeaksTest, NamesCategoryOwnerAndLineOfAPlantedLeak) {
  auto domain = memory::Domain::create();
  const Baseline baseline(*domain);
  memory::Tag tag = tag_here(memory::Category::kActivations);
  tag.owner = domain->owner("encoder.fc1");
  const memory::Block leaked = domain->allocate(4000, tag);
  const std::string text = baseline.format();
  EXPECT_NE(text.find("4 000 B in 1 block of activations"), std::string::npos);
  EXPECT_NE(text.find("owner 'encoder.fc1'"), std::string::npos);
  EXPECT_NE(text.find("leaks_test.cpp:"), std::string::npos);
  domain->release(leaked);
  EXPECT_TRUE(baseline.leaks().empty());
}

TEST(LeaksTest, CountsOnlyWhatCameAfterTheBaseline) {
  auto domain = memory::Domain::create();
  const memory::Tag tag = tag_here(memory::Category::kData);
  const memory::Block old = domain->allocate(64, tag);
  const Baseline baseline(*domain);
  const memory::Block fresh = domain->allocate(32, tag);
  ASSERT_EQ(baseline.leaks().size(), 1U);
  EXPECT_EQ(baseline.leaks()[0].bytes, 32);
  EXPECT_EQ(baseline.leaks()[0].blocks, 1);
  domain->release(fresh);
  domain->release(old);
}

TEST(LeaksTest, LooksWithoutChangingTheDomain) {
  auto domain = memory::Domain::create();
  const auto before = domain->stats();
  EXPECT_EQ(Baseline(*domain).format(), "");
  EXPECT_EQ(domain->stats().allocations, before.allocations);
  EXPECT_EQ(domain->stats().held, before.held);
}

}  // namespace
}  // namespace neap::report
