// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/call_site.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

namespace neap::base {
namespace {

CallSite site_of_caller(CallSite site = CallSite::here()) {
  return site;
}

TEST(CallSiteTest, NamesTheFileFunctionAndLineOfTheCaller) {
  const CallSite site = site_of_caller();
  EXPECT_EQ(site.line, __LINE__ - 1);
  EXPECT_STREQ(site.function, "TestBody");
  EXPECT_TRUE(std::string(site.file).ends_with("call_site_test.cpp"));
}

TEST(CallSiteTest, HasOneIdForOneSiteAndReturnsItsFields) {
  const SiteId id = intern({"a.cpp", "step", 41});
  EXPECT_NE(id, SiteId{});
  EXPECT_EQ(intern(site_of(id)), id);
  EXPECT_STREQ(site_of(id).file, "a.cpp");
  EXPECT_EQ(site_of(id).line, 41);
}

TEST(CallSiteTest, TellsSitesApartByLineFunctionAndFile) {
  static constexpr std::array<const char*, 2> kNames = {"one", "two"};
  const SiteId id = intern({kNames[0], kNames[0], 1});
  EXPECT_NE(intern({kNames[0], kNames[0], 2}), id);
  EXPECT_NE(intern({kNames[0], kNames[1], 1}), id);
  EXPECT_NE(intern({kNames[1], kNames[0], 1}), id);
}

TEST(CallSiteTest, PrintsTheFileNameWithoutItsFolders) {
  EXPECT_EQ(format_site(intern({"/home/me/train.cpp", "step", 41})),
            "train.cpp:41 (step)");
  EXPECT_EQ(format_site(intern({"train.cpp", "step", 7})),
            "train.cpp:7 (step)");
}

TEST(CallSiteTest, TreatsNoLineAndStrangeIdsAsUnknown) {
  EXPECT_EQ(intern(CallSite{}), SiteId{});
  EXPECT_EQ(format_site(SiteId{}), "unknown");
  EXPECT_EQ(site_of(SiteId{0xFFFFFFFFU}).line, 0);
}

// Every thread meets the same sites in another order; all must agree on ids.
TEST(CallSiteTest, InternsTheSameSitesFromManyThreadsOnce) {
  constexpr int kThreads = 4;
  constexpr int kSites = 500;
  static constexpr const char* kFile = "threads.cpp";
  const int before = interned_sites();
  std::array<std::vector<SiteId>, kThreads> ids;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([t, &mine = ids[static_cast<std::size_t>(t)]] {
      mine.resize(kSites);
      for (int i = 0; i < kSites; ++i) {
        const int site = (i * 7 + t * 100) % kSites;
        mine[static_cast<std::size_t>(site)] = intern({kFile, kFile, site + 1});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(interned_sites() - before, kSites);
  for (const std::vector<SiteId>& other : ids) {
    EXPECT_EQ(other, ids[0]);
  }
  EXPECT_EQ(site_of(ids[0][41]).line, 42);
}

// Runs in a process of its own, as the table never shrinks.
TEST(CallSiteDeathTest, CallsSitesBeyondTheTableUnknown) {
  const auto fill = [] {
    for (int line = 1; line <= kMaxCallSites; ++line) {
      intern({"full.cpp", "fill", line});
    }
    const SiteId known = intern({"full.cpp", "fill", 1});
    const SiteId late = intern({"full.cpp", "fill", kMaxCallSites + 1000});
    const bool good = interned_sites() == kMaxCallSites && late == SiteId{} &&
                      site_of(known).line == 1;
    std::_Exit(good ? 0 : 1);
  };
  EXPECT_EXIT(fill(), testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace neap::base
