// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/scope_stats.hpp"

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <thread>
#include <vector>

namespace neap::memory {
namespace {

// The counts of all threads since it was made.
class Growth {
 public:
  std::int64_t created() const {
    const ScopeStats now = process_scope_stats();
    return now.created_in_scope + now.created_outside -
           before_.created_in_scope - before_.created_outside;
  }
  std::int64_t released() const {
    const ScopeStats now = process_scope_stats();
    return now.released_in_scope + now.released_outside -
           before_.released_in_scope - before_.released_outside;
  }
  Bytes bytes() const {
    return process_scope_stats().live_bytes - before_.live_bytes;
  }

 private:
  ScopeStats before_ = process_scope_stats();
};

TEST(ScopeStatsTest, NothingIsLiveBeforeAnythingIsCreated) {
  EXPECT_EQ(process_scope_stats().live, 0);
  EXPECT_EQ(process_scope_stats().live_bytes, 0);
}

TEST(ScopeStatsTest, AThreadThatHasEndedStillCounts) {
  const Growth growth;
  reset_scope_stats();
  std::thread([] {
    count_created(true, 100);
    count_created(false, 50);
    count_released(false, 50);
    EXPECT_EQ(scope_stats().live, 1);
    EXPECT_EQ(scope_stats().created_in_scope, 1);
    EXPECT_EQ(scope_stats().created_outside, 1);
  }).join();
  EXPECT_EQ(growth.created(), 2);
  EXPECT_EQ(growth.released(), 1);
  EXPECT_EQ(growth.bytes(), 100);
  EXPECT_EQ(process_scope_stats().live, 1);
  EXPECT_EQ(scope_stats().created_in_scope, 0);
  count_released(true, 100);  // by another thread than created it
  EXPECT_EQ(process_scope_stats().live, 0);
  EXPECT_EQ(growth.bytes(), 0);
}

TEST(ScopeStatsTest, ThreadsMayEndInAnyOrderAndWhileOthersCount) {
  const Growth growth;
  constexpr int kThreads = 20;
  constexpr int kEach = 500;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([i] {
      for (int k = 0; k < kEach * (i % 3); ++k) {
        count_created(true, 8);
        count_released(true, 8);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  // 7, 7 and 6 threads.
  EXPECT_EQ(growth.created(), kEach * (0 * 7 + 1 * 7 + 2 * 6));
  EXPECT_EQ(growth.released(), growth.created());
  EXPECT_EQ(growth.bytes(), 0);
}

// A thread that counts one thing and ends when it is told to.
class Patient {
 public:
  Patient() { word_.wait(0); }
  void end() {
    word_ = 2;
    word_.notify_all();
    thread_.join();
  }

 private:
  std::atomic<int> word_{0};
  std::thread thread_{[this] {
    count_created(true, 8);
    count_released(true, 8);
    word_ = 1;
    word_.notify_all();
    word_.wait(1);
  }};
};

TEST(ScopeStatsTest, ThreadsThatGoOnCountWhicheverEndsBefore) {
  const Growth growth;
  Patient first;
  Patient second;
  Patient third;
  EXPECT_EQ(growth.created(), 3);
  first.end();
  EXPECT_EQ(growth.created(), 3);
  third.end();
  EXPECT_EQ(growth.created(), 3);
  second.end();
  EXPECT_EQ(growth.created(), 3);
}

TEST(ScopeStatsTest, AMemberMayDieAfterItsThreadWasTakenOffTheList) {
  const Growth growth;
  count_created(false, 1);  // the key of the counts comes before this one
  count_released(false, 1);
  pthread_key_t key{};
  const auto die = [](void*) {
    count_released(true, 8);
    // The thread's own counts go on from what they were.
    EXPECT_EQ(scope_stats().created_in_scope, 1);
    EXPECT_EQ(scope_stats().released_in_scope, 1);
    EXPECT_EQ(scope_stats().growth_bytes(), 0);
  };
  ASSERT_EQ(::pthread_key_create(&key, die), 0);
  std::thread([&] {
    count_created(true, 8);
    ::pthread_setspecific(key, &key);
  }).join();
  EXPECT_EQ(growth.created(), 2);
  EXPECT_EQ(growth.released(), 2);
  EXPECT_EQ(growth.bytes(), 0);
  EXPECT_EQ(process_scope_stats().live, 0);
  ::pthread_key_delete(key);
}

TEST(ScopeStatsTest, AResetStartsAnewAndLeavesWhatIsLive) {
  const std::int64_t before = scope_stats().live;  // less what others created
  count_created(true, 16);
  reset_scope_stats();
  reset_process_scope_stats();
  EXPECT_EQ(scope_stats().live, before + 1);
  EXPECT_EQ(scope_stats().peak_live, before + 1);
  for (const ScopeStats& stats : {scope_stats(), process_scope_stats()}) {
    EXPECT_EQ(stats.created_in_scope, 0);
    EXPECT_EQ(stats.growth(), 0);
  }
  EXPECT_EQ(process_scope_stats().live, 1);
  EXPECT_EQ(process_scope_stats().peak_live, 1);
  count_created(false, 16);
  count_absorbed(1);
  EXPECT_EQ(scope_stats().live, before + 1);  // one counts with a composite
  EXPECT_EQ(scope_stats().peak_live, before + 2);
  EXPECT_EQ(scope_stats().growth(), 0);
  count_absorbed(-1);
  count_released(true, 16);
  count_released(true, 16);
  EXPECT_EQ(process_scope_stats().live, 0);
  EXPECT_EQ(scope_stats().growth(), -1);
}

TEST(ScopeStatsTest, AllCountsBeginAtZero) {
  const ScopeStats none;
  for (const std::int64_t count :
       {none.created_in_scope, none.created_outside, none.released_in_scope,
        none.released_outside, none.attached, none.detached, none.absorbed,
        none.created_bytes, none.released_bytes, none.live, none.live_bytes,
        none.peak_live}) {
    EXPECT_EQ(count, 0);
  }
}

}  // namespace
}  // namespace neap::memory
