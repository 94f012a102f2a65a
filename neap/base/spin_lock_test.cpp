// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/spin_lock.hpp"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <mutex>
#include <thread>

namespace neap::base {
namespace {

TEST(SpinLockTest, LetsOneThreadInAtATime) {
  constexpr int kRounds = 20000;
  SpinLock lock;
  std::int64_t count = 0;  // not atomic on purpose
  const auto add = [&] {
    for (int i = 0; i < kRounds; ++i) {
      const std::lock_guard guard(lock);
      ++count;
    }
  };
  std::array threads{std::thread(add), std::thread(add), std::thread(add)};
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(count, 3 * kRounds);
}

TEST(SpinLockTest, WaitsForAHolderThatSleeps) {
  SpinLock lock;
  bool is_done = false;  // written under the lock alone
  lock.lock();
  std::thread other([&] {
    const std::lock_guard guard(lock);
    EXPECT_TRUE(is_done);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  is_done = true;
  lock.unlock();
  other.join();
}

}  // namespace
}  // namespace neap::base
