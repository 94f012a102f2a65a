// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/context.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <thread>

namespace neap::memory {
namespace {

TEST(ContextTest, StartsAtTheDefaultDomainWithoutAnOwner) {
  EXPECT_EQ(&domain(), &default_domain());
  EXPECT_EQ(context().owner, OwnerId{});
  EXPECT_EQ(context().category, Category::kOther);
}

TEST(ContextTest, GuardsPutBackWhatTheyFound) {
  {
    const ContextGuard outer([](Context& c) { c.owner = OwnerId{3}; });
    {
      const ContextGuard inner([](Context& c) {
        c.category = Category::kData;
        c.owner = OwnerId{4};
      });
      EXPECT_EQ(context().owner, OwnerId{4});
    }
    EXPECT_EQ(context().category, Category::kOther);
    EXPECT_EQ(context().owner, OwnerId{3});
  }
  EXPECT_EQ(context().owner, OwnerId{});
}

TEST(ContextTest, GuardsPutBackWhenAnExceptionPasses) {
  try {
    const ContextGuard guard([](Context& c) { c.owner = OwnerId{3}; });
    throw 1;
  } catch (int) {
    EXPECT_EQ(context().owner, OwnerId{});
  }
}

TEST(ContextTest, UseDomainStartsTheOwnerPathAnew) {
  const Domain::Handle other = Domain::create();
  const ContextGuard guard([](Context& c) { c.owner = OwnerId{3}; });
  const UseDomain use(*other);
  EXPECT_EQ(&domain(), other.get());
  EXPECT_EQ(context().owner, OwnerId{});
}

TEST(ContextTest, IsOnePerThread) {
  const ContextGuard guard([](Context& c) { c.owner = OwnerId{3}; });
  OwnerId there{9};
  std::thread([&] { there = context().owner; }).join();
  EXPECT_EQ(there, OwnerId{});
}

TEST(ContextTest, TagsPreferWhatTheContextSays) {
  const base::SiteId own{5};
  EXPECT_EQ(current_tag(Category::kData, own).site, own);
  const ContextGuard guard([](Context& c) {
    c.category = Category::kBuffers;
    c.owner = OwnerId{2};
    c.site = base::SiteId{9};
  });
  const Tag tag = current_tag(Category::kData, own, SpaceId{1});
  EXPECT_EQ(tag.category, Category::kBuffers);
  EXPECT_EQ(tag.owner, OwnerId{2});
  EXPECT_EQ(tag.site, base::SiteId{9});
  EXPECT_EQ(tag.space, SpaceId{1});
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kIsSanitized = true;  // resident bytes are the sanitizer's too
#else
constexpr bool kIsSanitized = false;
#endif

Bytes resident() {
  std::ifstream file("/proc/self/statm");
  Bytes total = 0;
  Bytes pages = 0;
  file >> total >> pages;
  return pages * ::sysconf(_SC_PAGESIZE);
}

TEST(ContextTest, TrimReturnsIdlePagesToTheSystem) {
  constexpr Bytes kBlock = 64 * kMiB;
  const Domain::Handle own = Domain::create({.host = HostAllocator::kPooled});
  const UseDomain use(*own);
  const Block block = own->allocate(kBlock, current_tag(Category::kOther));
  std::memset(block.data, 1, static_cast<std::size_t>(kBlock));
  own->release(block);
  const Stats idle = own->stats();
  const Bytes resident_before = resident();
  EXPECT_GE(idle.idle, kBlock);
  const Bytes given = trim();
  EXPECT_EQ(given, idle.idle);
  EXPECT_EQ(own->stats().held, idle.held - given);
  EXPECT_EQ(own->stats().idle, 0);
  EXPECT_EQ(trim(), 0);
  if (!kIsSanitized) {
    EXPECT_LE(resident(), resident_before - kBlock * 3 / 4);
  }
}

}  // namespace
}  // namespace neap::memory
