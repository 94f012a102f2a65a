// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/context.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace neap::memory {
namespace {

TEST(ContextTest, StartsAtTheDefaultDomainWithoutAnOwner) {
  EXPECT_EQ(&domain(), &default_domain());
  EXPECT_EQ(context().owner, OwnerId{});
  EXPECT_TRUE(context().grad_enabled);
}

TEST(ContextTest, GuardsPutBackWhatTheyFound) {
  {
    const ContextGuard outer([](Context& c) { c.grad_enabled = false; });
    {
      const ContextGuard inner([](Context& c) {
        c.grad_enabled = true;
        c.owner = OwnerId{4};
      });
      EXPECT_TRUE(context().grad_enabled);
    }
    EXPECT_FALSE(context().grad_enabled);
    EXPECT_EQ(context().owner, OwnerId{});
  }
  EXPECT_TRUE(context().grad_enabled);
}

TEST(ContextTest, GuardsPutBackWhenAnExceptionPasses) {
  try {
    const ContextGuard guard([](Context& c) { c.grad_enabled = false; });
    throw 1;
  } catch (int) {
    EXPECT_TRUE(context().grad_enabled);
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
  const ContextGuard guard([](Context& c) { c.grad_enabled = false; });
  bool there = false;
  std::thread([&] { there = context().grad_enabled; }).join();
  EXPECT_TRUE(there);
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

}  // namespace
}  // namespace neap::memory
