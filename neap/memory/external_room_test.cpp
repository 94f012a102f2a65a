// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/external_room.hpp"

#include <gtest/gtest.h>

#include "neap/base/external.hpp"

namespace neap::memory {
namespace {

const Tag kTag{.category = Category::kData};

TEST(ExternalRoomTest, IsThereWithoutABudget) {
  const auto domain = Domain::create();
  EXPECT_NO_THROW(expect_external_room(Bytes{1} << 40U, kTag, *domain));
}

TEST(ExternalRoomTest, EndsWithTheBudgetToTheByte) {
  const auto domain = Domain::create();
  const Block block = domain->allocate(100, kTag);
  const Bytes used = domain->stats().held + base::external_bytes();
  domain->set_budget(used + 1000);
  EXPECT_NO_THROW(expect_external_room(1000, kTag, *domain));
  try {
    expect_external_room(1001, kTag, *domain);
    ADD_FAILURE() << "no error";
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.details().reason, OutOfMemory::Reason::kBudget);
    EXPECT_EQ(error.details().requested, 1001);
    EXPECT_EQ(error.details().tag, kTag);
  }
  EXPECT_EQ(domain->stats().live, 100);
  domain->release(block);
}

TEST(ExternalRoomTest, HoldsNothingInAFullBudget) {
  const auto domain = Domain::create();
  domain->set_budget(domain->stats().held + base::external_bytes());
  EXPECT_NO_THROW(expect_external_room(0, kTag, *domain));
  EXPECT_THROW(expect_external_room(1, kTag, *domain), OutOfMemory);
}

TEST(ExternalRoomTest, IsMadeByGivingIdlePagesBack) {
  const auto domain = Domain::create({.host = HostAllocator::kPooled});
  domain->release(domain->allocate(kMiB, kTag));
  const Stats stats = domain->stats();
  ASSERT_GE(stats.idle, kMiB);
  domain->set_budget(stats.held + base::external_bytes());
  EXPECT_NO_THROW(expect_external_room(kMiB, kTag, *domain));
  EXPECT_LT(domain->stats().held, stats.held);
  EXPECT_THROW(expect_external_room(stats.held, kTag, *domain), OutOfMemory);
}

}  // namespace
}  // namespace neap::memory
