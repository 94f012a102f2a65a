// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/paged_arena.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <cstring>

#include "neap/memory/system_pages.hpp"
#include "neap/memory/taken_for_test.hpp"

namespace neap::memory {
namespace {

using View = PagedArena::View;

class PagedArenaTest : public testing::Test {
 protected:
  PagedArena make(Bytes pages) {
    return PagedArena(pages * page_bytes(), tag_, *domain_);
  }

  Domain::Handle domain_ = Domain::create();
  Tag tag_{.category = Category::kWorkspace,
           .owner = domain_->owner("step"),
           .site = {}};
};

void fill(std::byte* at, Bytes size, int value) {
  std::memset(at, value, static_cast<std::size_t>(size));
}

// Pages 3 and 0, and page 1, of four.
constexpr std::array<View, 3> kViews = {{
    {.at = 0, .from = 3 * page_bytes(), .size = page_bytes()},
    {.at = page_bytes(), .from = 0, .size = page_bytes()},
    {.at = 2 * page_bytes(), .from = page_bytes(), .size = page_bytes()},
}};
constexpr Bytes kSize = 3 * page_bytes();

TEST_F(PagedArenaTest, ShowsPagesAtFurtherAddresses) {
  PagedArena arena = make(4);
  const auto views = arena.show(kViews, kSize);
  for (int page = 0; page < 4; ++page) {
    fill(arena.data() + page * page_bytes(), page_bytes(), page + 1);
  }
  EXPECT_EQ(views.size(), kSize);
  EXPECT_EQ(views.data()[0], std::byte{4});
  EXPECT_EQ(views.data()[page_bytes()], std::byte{1});
  EXPECT_EQ(views.data()[3 * page_bytes() - 1], std::byte{2});
  views.data()[page_bytes() + 7] = std::byte{99};
  EXPECT_EQ(arena.data()[7], std::byte{99});
}

TEST_F(PagedArenaTest, ShowsThemInSeveralSetsThatComeAndGo) {
  PagedArena arena = make(4);
  const auto first = arena.show(kViews, kSize);
  arena.data()[3 * page_bytes()] = std::byte{5};
  {
    const View whole{
        .at = 0, .from = 2 * page_bytes(), .size = 2 * page_bytes()};
    const auto second = arena.show({&whole, 1}, 2 * page_bytes());
    EXPECT_EQ(second.data()[page_bytes()], std::byte{5});
    second.data()[page_bytes()] = std::byte{6};
  }
  EXPECT_EQ(first.data()[0], std::byte{6});
  auto moved = arena.show(kViews, kSize);
  moved = arena.show(kViews, kSize);
  EXPECT_EQ(moved.data()[0], std::byte{6});
}

TEST_F(PagedArenaTest, IsOneBlockOfTheDomain) {
  const auto held_for_blocks = [&] {
    return domain_->stats().held - domain_->stats().books;
  };
  const Bytes held = held_for_blocks();
  {
    PagedArena arena = make(4);
    const Bytes with_pages = held_for_blocks();
    const auto views = arena.show(kViews, kSize);
    EXPECT_EQ(domain_->stats().live, 4 * page_bytes());
    EXPECT_EQ(domain_->stats().live_blocks, 1);
    EXPECT_GE(with_pages, held + 4 * page_bytes());
    EXPECT_EQ(held_for_blocks(), with_pages);
  }
  EXPECT_EQ(domain_->stats().live_blocks, 0);
  EXPECT_TRUE(domain_->is_consistent());
}

TEST_F(PagedArenaTest, ReturnsPlainPagesToTheDomain) {
  for (int round = 0; round < 3; ++round) {
    PagedArena arena = make(4);
    const auto views = arena.show(kViews, kSize);
    fill(arena.data(), 4 * page_bytes(), 7);
  }
  const Block block = domain_->allocate(4 * page_bytes(), tag_);
  fill(static_cast<std::byte*>(block.data), block.size, 5);
  PagedArena arena = make(4);
  const auto views = arena.show(kViews, kSize);
  arena.data()[0] = std::byte{1};
  EXPECT_EQ(static_cast<std::byte*>(block.data)[0], std::byte{5});
  domain_->release(block);
}

TEST_F(PagedArenaTest, ShowsWholePagesOfAnySize) {
  PagedArena arena(2 * page_bytes() + 100, tag_, *domain_);
  const View last{.at = 0, .from = page_bytes(), .size = page_bytes()};
  fill(arena.data(), arena.capacity(), 8);
  const auto views = arena.show({&last, 1}, page_bytes());
  EXPECT_EQ(arena.data()[2 * page_bytes()], std::byte{8});  // in no whole page
  arena.data()[page_bytes()] = std::byte{9};
  EXPECT_EQ(views.data()[0], std::byte{9});
  PagedArena empty = make(0);
  EXPECT_EQ(empty.capacity(), 0);
  EXPECT_EQ(empty.show({}, 0).data(), nullptr);
}

TEST_F(PagedArenaTest, MovesWithItsPages) {
  PagedArena first = make(4);
  auto views = first.show(kViews, kSize);
  first.data()[0] = std::byte{3};
  PagedArena second = std::move(first);
  EXPECT_EQ(views.data()[page_bytes()], std::byte{3});
  views = {};
  second = make(2);
  EXPECT_EQ(second.capacity(), 2 * page_bytes());
  EXPECT_EQ(domain_->stats().live, 2 * page_bytes());
}

TEST_F(PagedArenaTest, RefusesViewsThatDoNotFit) {
  PagedArena arena = make(4);
  const auto refuses = [&](View view) {
    EXPECT_THROW(arena.show({&view, 1}, kSize), ValueError);
  };
  refuses({.at = -page_bytes(), .from = 0, .size = page_bytes()});
  refuses({.at = 0, .from = 3 * page_bytes(), .size = 2 * page_bytes()});
  refuses({.at = 2 * page_bytes(), .from = 0, .size = 2 * page_bytes()});
  refuses({.at = 0, .from = 100, .size = page_bytes()});
  refuses({.at = 0, .from = 0, .size = -page_bytes()});
  EXPECT_THROW(arena.show({}, 100), ValueError);
}

TEST_F(PagedArenaTest, KeepsTheBudget) {
  domain_->set_budget(domain_->stats().held + domain_->stats().external +
                      page_bytes());
  EXPECT_THROW(make(1 << 20), OutOfMemory);
  EXPECT_EQ(domain_->stats().live, 0);
}

TEST_F(PagedArenaTest, SaysThatTheSystemRefuses) {
  PagedArena arena = make(4);
  try {
    // More addresses than a process has.
    arena.show(kViews, (Bytes{1} << 40) * page_bytes());
    FAIL();
  } catch (const OutOfMemory& error) {
    EXPECT_EQ(error.details().reason, OutOfMemory::Reason::kSystem);
    EXPECT_STREQ(error.details().owner.data(), "step");
  }
  EXPECT_EQ(domain_->stats().live, 4 * page_bytes());
}

TEST_F(PagedArenaTest, ADryRunAllocatesTheSameAndMapsNothing) {
  const auto requests = [&](Domain& domain) {
    PagedArena arena(4 * page_bytes(), Tag{}, domain);
    const auto one = arena.show(kViews, kSize);
    const auto two = arena.show(kViews, kSize);
    EXPECT_EQ(one.data() == nullptr, domain.is_rehearsal());
    EXPECT_EQ(one.size(), kSize);
    return domain.requests();
  };
  const auto real = Domain::create({.host = HostAllocator::kPooled});
  const auto rehearsed = Domain::create({.is_rehearsal = true});
  EXPECT_EQ(requests(*rehearsed), requests(*real));
  EXPECT_EQ(rehearsed->stats().peak, real->stats().peak);
}

// --- what a refusal leaves -------------------------------------------------

TEST_F(PagedArenaTest, AnyRequestMayBeRefusedAndNothingHasChanged) {
  const Taken before = taken_by_process();
  {
    PagedArena arena = make(4);
    fill(arena.data(), 4 * page_bytes(), 3);
    PagedArena::Views views;
    std::int64_t n = 0;
    for (bool is_done = false; !is_done;) {
      domain_->fail_at(++n);
      try {
        views = arena.show(kViews, kSize);
        is_done = true;
      } catch (const OutOfMemory&) {
        EXPECT_EQ(arena.data()[0], std::byte{3}) << n;
        EXPECT_EQ(taken_by_process(), before) << n;
      }
    }
    domain_->fail_at(0);
    EXPECT_EQ(n, 6);  // addresses, three views and the block
    EXPECT_EQ(taken_by_process().files, before.files + 1);
    EXPECT_GT(taken_by_process().maps, before.maps);
    const Taken shown = taken_by_process();
    domain_->fail_at(3);
    EXPECT_THROW(arena.show(kViews, kSize), OutOfMemory);
    EXPECT_EQ(taken_by_process(), shown);
    EXPECT_EQ(domain_->stats().live, 4 * page_bytes());
  }
  EXPECT_EQ(taken_by_process(), before);
  EXPECT_EQ(domain_->stats().live_blocks, 0);
}

TEST_F(PagedArenaTest, ASystemWithoutFilesLeavesThePagesPlain) {
  PagedArena arena = make(4);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const int file = memfd_create("none", MFD_CLOEXEC);
  if (file >= 0) {
    setrlimit(RLIMIT_NOFILE, &limit);
    close(file);
    GTEST_SKIP() << "this system does not bound a process's descriptors";
  }
  EXPECT_THROW(arena.show(kViews, kSize), OutOfMemory);
  setrlimit(RLIMIT_NOFILE, &limit);
  const auto views = arena.show(kViews, kSize);
  arena.data()[0] = std::byte{1};
  EXPECT_EQ(views.data()[page_bytes()], std::byte{1});
}

// The signal that the system sends as well would end the process.
TEST_F(PagedArenaTest, ALimitOfFileSizesLeavesThePagesPlain) {
  PagedArena arena = make(4);
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{1, limit.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  EXPECT_THROW(arena.show(kViews, kSize), OutOfMemory);
  setrlimit(RLIMIT_FSIZE, &limit);
  const auto views = arena.show(kViews, kSize);
  arena.data()[0] = std::byte{1};
  EXPECT_EQ(views.data()[page_bytes()], std::byte{1});
}

// Without a view there is no file, whose number would be another's.
TEST_F(PagedArenaTest, ClosesNoFileOfTheProgramsOwn) {
  const Taken before = taken_by_process();
  const int standard_input = ::fcntl(0, F_GETFD);
  {
    PagedArena arena(4 * page_bytes(), Tag{}, default_domain());
    const PagedArena moved(std::move(arena));
  }
  EXPECT_EQ(taken_by_process(), before);
  EXPECT_EQ(::fcntl(0, F_GETFD), standard_input);
}

TEST_F(PagedArenaTest, AViewMayShowNothing) {
  PagedArena arena(4 * page_bytes(), Tag{}, default_domain());
  const std::array views{
      PagedArena::View{.at = 0, .from = 0, .size = 0},
      PagedArena::View{.at = 0, .from = page_bytes(), .size = page_bytes()}};
  const PagedArena::Views shown = arena.show(views, page_bytes());
  arena.data()[page_bytes()] = std::byte{7};
  EXPECT_EQ(shown.data()[0], std::byte{7});
}

}  // namespace
}  // namespace neap::memory
