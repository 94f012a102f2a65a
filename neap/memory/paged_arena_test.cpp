// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/paged_arena.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "neap/memory/system_pages.hpp"

namespace neap::memory {
namespace {

class PagedArenaTest : public testing::Test {
 protected:
  PagedArena make(Bytes pages, Bytes addresses,
                  std::span<const PagedArena::View> views) {
    return PagedArena(pages * kPage, addresses * kPage, views, tag_, *domain_);
  }

  Domain::Handle domain_ = Domain::create();
  Tag tag_{.category = Category::kWorkspace,
           .owner = domain_->owner("step"),
           .site = {}};
};

// Pages 3 and 0, and page 1, of four.
constexpr std::array<PagedArena::View, 3> kViews = {{
    {.at = 4 * kPage, .from = 3 * kPage, .size = kPage},
    {.at = 5 * kPage, .from = 0, .size = kPage},
    {.at = 6 * kPage, .from = kPage, .size = kPage},
}};

TEST_F(PagedArenaTest, ShowsPagesAtFurtherAddresses) {
  const PagedArena arena = make(4, 7, kViews);
  for (Bytes page = 0; page < 4; ++page) {
    std::memset(arena.at(page * kPage, kPage), static_cast<int>(page + 1),
                static_cast<std::size_t>(kPage));
  }
  const std::byte* view = arena.at(4 * kPage, 3 * kPage);
  EXPECT_EQ(view[0], std::byte{4});
  EXPECT_EQ(view[kPage], std::byte{1});
  EXPECT_EQ(view[3 * kPage - 1], std::byte{2});
  *arena.at(5 * kPage + 7, 1) = std::byte{99};
  EXPECT_EQ(*arena.at(7, 1), std::byte{99});
}

TEST_F(PagedArenaTest, IsOneBlockOfTheDoor) {
  const auto held_for_blocks = [&] {
    return domain_->stats().held - domain_->stats().books;
  };
  const Bytes held = held_for_blocks();
  {
    const PagedArena arena = make(4, 7, kViews);
    EXPECT_EQ(domain_->stats().live, 4 * kPage);
    EXPECT_EQ(domain_->stats().live_blocks, 1);
    EXPECT_GE(held_for_blocks(), held + 4 * kPage);
  }
  EXPECT_EQ(domain_->stats().live_blocks, 0);
  EXPECT_TRUE(domain_->is_consistent());
}

TEST_F(PagedArenaTest, GivesPlainPagesBackToTheDoor) {
  for (int round = 0; round < 3; ++round) {
    const PagedArena arena = make(4, 7, kViews);
    std::memset(arena.at(0, 4 * kPage), 7, static_cast<std::size_t>(4 * kPage));
  }
  const Block block = domain_->allocate(4 * kPage, tag_);
  std::memset(block.data, 5, static_cast<std::size_t>(block.size));
  const PagedArena arena = make(4, 7, kViews);
  *arena.at(0, 1) = std::byte{1};
  EXPECT_EQ(static_cast<std::byte*>(block.data)[0], std::byte{5});
  domain_->release(block);
}

TEST_F(PagedArenaTest, NeedsNoViews) {
  const PagedArena arena = make(2, 2, {});
  std::memset(arena.at(0, 2 * kPage), 1, static_cast<std::size_t>(2 * kPage));
  EXPECT_EQ(arena.end(), 2 * kPage);
  const PagedArena empty = make(0, 0, {});
  EXPECT_EQ(empty.capacity(), 0);
}

TEST_F(PagedArenaTest, MovesWithItsPages) {
  PagedArena first = make(4, 7, kViews);
  *first.at(0, 1) = std::byte{3};
  PagedArena second = std::move(first);
  EXPECT_EQ(*second.at(5 * kPage, 1), std::byte{3});
  second = make(2, 2, {});
  EXPECT_EQ(second.capacity(), 2 * kPage);
  EXPECT_EQ(domain_->stats().live, 2 * kPage);
}

TEST_F(PagedArenaTest, RefusesViewsThatDoNotFit) {
  const auto refuses = [&](PagedArena::View view) {
    EXPECT_THROW(make(4, 7, std::span(&view, 1)), ValueError);
  };
  refuses({.at = 3 * kPage, .from = 0, .size = kPage});
  refuses({.at = 4 * kPage, .from = 3 * kPage, .size = 2 * kPage});
  refuses({.at = 6 * kPage, .from = 0, .size = 2 * kPage});
  refuses({.at = 4 * kPage, .from = 100, .size = kPage});
  refuses({.at = 4 * kPage, .from = 0, .size = -kPage});
  EXPECT_THROW(PagedArena(100, 100, {}, tag_, *domain_), ValueError);
  const PagedArena arena = make(4, 7, kViews);
  EXPECT_THROW(arena.at(3 * kPage, 2 * kPage), ValueError);
  EXPECT_THROW(arena.at(-1, 1), ValueError);
  EXPECT_THROW(arena.at(7 * kPage, 1), ValueError);
}

TEST_F(PagedArenaTest, KeepsTheBudget) {
  domain_->set_budget(domain_->stats().held + domain_->stats().external +
                      kPage);
  EXPECT_THROW(make(1 << 20, 1 << 20, {}), OutOfMemory);
  EXPECT_EQ(domain_->stats().live, 0);
}

TEST_F(PagedArenaTest, SaysThatTheSystemRefuses) {
  try {
    // More addresses than a process has.
    make(4, Bytes{1} << 40, kViews);
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.details().reason, OutOfMemory::Reason::kSystem);
    EXPECT_STREQ(error.details().owner.data(), "step");
  }
  EXPECT_EQ(domain_->stats().live, 0);
}

}  // namespace
}  // namespace neap::memory
