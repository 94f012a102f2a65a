// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/arena.hpp"

#include <gtest/gtest.h>

namespace neap::memory {
namespace {

class ArenaTest : public testing::Test {
 protected:
  Domain::Handle domain_ = Domain::create();
  Tag tag_{.category = Category::kWorkspace,
           .owner = domain_->owner("step"),
           .site = {}};
};

TEST_F(ArenaTest, IsOneBlockOfTheDomain) {
  {
    const Arena arena(1000, tag_, *domain_);
    EXPECT_EQ(domain_->stats().live, 1000);
    EXPECT_EQ(domain_->stats().live_blocks, 1);
  }
  EXPECT_EQ(domain_->stats().live_blocks, 0);
}

TEST_F(ArenaTest, AllocatesBytesInOrderAndAligned) {
  Arena arena(1000, tag_, *domain_);
  std::byte* a = arena.take(10);
  std::byte* b = arena.take(10, 16);
  std::byte* c = arena.take(10);
  EXPECT_EQ(b - a, 16);
  EXPECT_EQ(c - a, 64);
  EXPECT_EQ(arena.used(), 74);
  arena.take(1, 1);  // an odd place
  EXPECT_EQ(arena.take(10, 16) - a, 80);
  EXPECT_EQ(arena.take(0, 1) - a, 90);
}

TEST_F(ArenaTest, AllocatesNothingAtItsVeryEnd) {
  Arena arena(128, tag_, *domain_);
  std::byte* a = arena.take(100);
  EXPECT_EQ(arena.take(0, 64) - a, 128);
  EXPECT_EQ(arena.used(), 128);
}

TEST_F(ArenaTest, RefusesWhatDoesNotFitAndStaysAsBefore) {
  Arena arena(100, tag_, *domain_);
  arena.take(60);
  try {
    arena.take(37);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.details().reason, OutOfMemory::Reason::kArena);
    EXPECT_EQ(error.details().held, 100);
    EXPECT_STREQ(error.details().owner.data(), "step");
  }
  EXPECT_EQ(arena.used(), 60);
  arena.take(36);
  EXPECT_EQ(arena.used(), 100);
}

TEST_F(ArenaTest, TakesBackEverythingAfterAMark) {
  Arena arena(1000, tag_, *domain_);
  arena.take(10);
  const Bytes mark = arena.position();
  std::byte* first = arena.take(100);
  arena.rewind(mark);
  EXPECT_EQ(arena.take(100), first);
  arena.rewind(0);
  EXPECT_EQ(arena.used(), 0);
}

TEST_F(ArenaTest, HasPlannedOffsetsInsideItsCapacityOnly) {
  const Arena arena(128, tag_, *domain_);
  EXPECT_EQ(arena.at(64, 64) - arena.at(0, 1), 64);
  EXPECT_EQ(arena.at(128, 0) - arena.at(0, 1), 128);
  EXPECT_THROW(arena.at(65, 64), ValueError);
  EXPECT_THROW(arena.at(-1, 1), ValueError);
  EXPECT_THROW(arena.at(0, kUnlimited), ValueError);
}

TEST_F(ArenaTest, MovesItsBlock) {
  Arena a(100, tag_, *domain_);
  Arena b(50, tag_, *domain_);
  a.take(10);
  b = std::move(a);
  EXPECT_EQ(b.capacity(), 100);
  EXPECT_EQ(b.used(), 10);
  EXPECT_EQ(domain_->stats().live, 100);
  const Arena c(std::move(b));
  EXPECT_EQ(c.used(), 10);
  // NOLINTNEXTLINE(bugprone-use-after-move,clang-analyzer-*): an empty one
  EXPECT_EQ(b.used(), 0);
}

TEST_F(ArenaTest, MayBeEmpty) {
  Arena arena(0, tag_, *domain_);
  EXPECT_THROW(arena.take(1), OutOfMemory);
}

}  // namespace
}  // namespace neap::memory
