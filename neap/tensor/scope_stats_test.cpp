// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Composites as members of scopes, the counts, and the list of members.
#include "neap/memory/scope_stats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "neap/memory/composite.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap {
namespace {

using memory::process_scope_stats;
using memory::reset_scope_stats;
using memory::scope_stats;
using memory::ScopeStats;
using ::testing::HasSubstr;

class ScopeStatsTest : public DoorTest {};

// --- composites ---

TEST_F(ScopeStatsTest, ACompositeCountsAsOneAndIsRevokedAsOne) {
  Tensor a;
  Tensor b;
  memory::Composite pair;
  {
    const Scope scope;
    a = zeros({1});
    b = zeros({1});
    pair = memory::Composite(a, b);
    EXPECT_EQ(scope.size(), 1);
  }
  EXPECT_FALSE(a.defined() || b.defined() || pair.defined());
  EXPECT_THROW(pair.scope_member(), UseAfterRelease);
  EXPECT_THROW(pair.absorb(zeros({1})), UseAfterRelease);
}

struct Frame : Composite {
  Frame() : image(zeros({2})), mask(ones({2})) { absorb(image, mask); }
  Tensor image;
  Tensor mask;
};

TEST_F(ScopeStatsTest, AStructThatDerivesFromCompositeIsKeptAsOne) {
  Scope outer;
  {
    const auto make = [] {
      Scope scope;
      return scope.keep(Frame());
    };
    const Frame frame = make();
    EXPECT_EQ(frame.mask.at({0}), 1.0);
    EXPECT_EQ(outer.size(), 1);
  }
  EXPECT_EQ(outer.size(), 0);
}

TEST_F(ScopeStatsTest, APartThatOutlivesItsCompositeTakesItsPlace) {
  Tensor image;
  {
    const Scope scope;
    image = Frame().image;
    EXPECT_EQ(scope.size(), 1);
  }
  EXPECT_FALSE(image.defined());
}

TEST_F(ScopeStatsTest, TwoCompositesMayShareAPart) {
  reset_scope_stats();
  const std::int64_t before = scope_stats().live;
  {
    const Tensor t = zeros({1});
    auto first = std::make_unique<Composite>(t);
    Scope scope;
    const Composite second(t);
    EXPECT_EQ(scope.size(), 1);
    first.reset();
    scope.close();
    EXPECT_FALSE(t.defined());
  }
  EXPECT_EQ(scope_stats().live, before);
  EXPECT_EQ(scope_stats().growth(), 0);
  EXPECT_EQ(scope_stats().growth_bytes(), 0);
}

// --- statistics ---

TEST_F(ScopeStatsTest, CountsWhatWasCreatedAndWhatWasFreed) {
  reset_scope_stats();
  const ScopeStats start = scope_stats();
  const Tensor outside = zeros({10});
  Tensor copy;
  {
    Scope scope;
    const Tensor inside = zeros({10});
    copy = inside;
    zeros({10});
    const Tensor detached = zeros({10});
    scope.detach(detached);
    scope.attach(outside);
  }
  const ScopeStats stats = scope_stats();
  EXPECT_EQ(stats.created_outside, 1);
  EXPECT_EQ(stats.created_in_scope, 3);
  EXPECT_EQ(stats.released_in_scope, 3);
  EXPECT_EQ(stats.released_outside, 1);
  EXPECT_EQ(stats.attached, 1);
  EXPECT_EQ(stats.detached, 1);
  EXPECT_EQ(stats.created_bytes, 160);
  EXPECT_EQ(stats.released_bytes, 160);
  EXPECT_EQ(stats.live, start.live);
  EXPECT_EQ(stats.live_bytes, start.live_bytes);
  EXPECT_EQ(stats.peak_live, start.live + 3);
  EXPECT_EQ(stats.growth(), 0);
}

TEST_F(ScopeStatsTest, ALeakShowsAsGrowthAndBytes) {
  reset_scope_stats();
  const Tensor leak = zeros({10});
  EXPECT_EQ(scope_stats().growth(), 1);
  EXPECT_EQ(scope_stats().growth_bytes(), 40);
  EXPECT_THAT(std::string(scope_stats().format()),
              HasSubstr("created 0 in scopes + 1 outside, released 0 + 0"));
}

TEST_F(ScopeStatsTest, ACompositeIsCountedOnce) {
  reset_scope_stats();
  const std::int64_t before = scope_stats().live;
  {
    const Scope scope;
    const Frame frame;
    EXPECT_EQ(scope_stats().live, before + 1);
    EXPECT_EQ(scope_stats().growth_bytes(), 16);
  }
  EXPECT_EQ(scope_stats().live, before);
  EXPECT_EQ(scope_stats().growth(), 0);
  EXPECT_EQ(scope_stats().growth_bytes(), 0);
}

TEST_F(ScopeStatsTest, RebindingChangesBytesAlone) {
  reset_scope_stats();
  const Tensor other = zeros({100});
  Tensor t = zeros({1});
  t.rebind(other);
  EXPECT_EQ(scope_stats().growth(), 2);
  EXPECT_EQ(scope_stats().growth_bytes(), 800);
}

TEST_F(ScopeStatsTest, TheProcessCountsAllThreadsEndedOnesToo) {
  memory::reset_process_scope_stats();
  reset_scope_stats();
  const ScopeStats start = process_scope_stats();
  Tensor passed_on;
  std::thread([&passed_on, this] {
    const UseDomain use(*domain_);
    const Tensor gone = zeros({1});
    passed_on = zeros({10});
    EXPECT_EQ(scope_stats().created_outside, 2);
  }).join();
  EXPECT_EQ(scope_stats().created_outside, 0);
  EXPECT_EQ(process_scope_stats().created_outside, 2);
  EXPECT_EQ(process_scope_stats().released_outside, 1);
  EXPECT_EQ(process_scope_stats().live, start.live + 1);
  EXPECT_EQ(process_scope_stats().peak_live, start.live + 2);
  EXPECT_EQ(process_scope_stats().live_bytes, start.live_bytes + 40);
  passed_on = Tensor();
  EXPECT_EQ(scope_stats().released_outside, 1);
  EXPECT_EQ(process_scope_stats().live, start.live);
}

TEST_F(ScopeStatsTest, TheProcessIsExactWithThreadsAtWork) {
  constexpr int kThreads = 4;
  constexpr int kTensors = 500;
  memory::reset_process_scope_stats();
  const std::int64_t before = process_scope_stats().live;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([this] {
      const UseDomain use(*domain_);
      for (int k = 0; k < kTensors; ++k) {
        const Scope scope;
        zeros({1});
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  const ScopeStats stats = process_scope_stats();
  EXPECT_EQ(stats.created_in_scope, kThreads * kTensors);
  EXPECT_EQ(stats.released_in_scope, kThreads * kTensors);
  EXPECT_EQ(stats.live, before);
  EXPECT_LE(stats.peak_live, before + kThreads);
}

// --- enumeration ---

int count_members() {
  int count = 0;
  memory::for_each_member([&count](memory::ScopeMember&) { ++count; });
  return count;
}

TEST_F(ScopeStatsTest, ListsTheMembersOfAllScopes) {
  const Tensor outside = zeros({1});
  EXPECT_EQ(count_members(), 0);
  Scope outer;
  const Tensor a = outer.keep(zeros({1}));
  const Scope inner;
  const Tensor b = zeros({1});
  EXPECT_EQ(count_members(), 2);
}

TEST_F(ScopeStatsTest, TracksHandlesOfNoScopeWhileAsked) {
  const Tensor before = zeros({1});
  auto tracking = std::make_unique<memory::TrackHandles>();
  const Tensor a = zeros({1});
  Scope scope;
  const Tensor b = zeros({1});
  scope.detach(b);
  EXPECT_EQ(scope.size(), 0);
  EXPECT_EQ(count_members(), 2);
  const Tensor c = zeros({1});
  EXPECT_EQ(count_members(), 3);
  tracking.reset();
  const memory::OutsideScopes outside;
  const Tensor d = zeros({1});
  EXPECT_EQ(count_members(), 3);
}

TEST_F(ScopeStatsTest, AListedTensorLivesWhileItIsLookedAt) {
  const Scope scope;
  Tensor t = zeros({1});
  memory::for_each_member([&t](memory::ScopeMember& member) {
    t = Tensor();
    EXPECT_TRUE(member.is_held_once());
  });
  EXPECT_EQ(scope.size(), 0);
}

}  // namespace
}  // namespace neap
