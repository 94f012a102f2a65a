// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/threads/pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>
#include <vector>

#include "neap/base/error.hpp"
#include "neap/base/external.hpp"
#include "neap/threads/meet_test.hpp"
#include "neap/threads/thread_error.hpp"

namespace neap::threads {
namespace {

Bytes stack_bytes_listed() {
  std::array<base::ExternalRow, base::kMaxExternalRows> rows;
  const int count = base::external_rows(rows.data());
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(rows[static_cast<std::size_t>(i)].name, "thread stacks") ==
        0) {
      return rows[static_cast<std::size_t>(i)].bytes;
    }
  }
  return 0;
}

std::vector<pthread_t> threads_of_parts(Executor& executor, int parts) {
  const int shares = std::min(parts, executor.threads());
  Meeting meeting(shares);
  std::vector<pthread_t> of_part(static_cast<std::size_t>(parts));
  parallel_parts(executor, parts, [&](int part) noexcept {
    if (part < shares) {
      meeting.come();
    }
    of_part[static_cast<std::size_t>(part)] = ::pthread_self();
  });
  return of_part;
}

// A chain of roundings: any other order or split of the sum inside a block
// would show. Blocks are summed in index order at the end.
std::uint64_t hash_of_work(Executor& executor) {
  constexpr std::int64_t kBlocks = 64;
  constexpr std::int64_t kBlock = 500;
  std::vector<double> sums(kBlocks);
  parallel_for(executor, kBlocks * kBlock, kBlock,
               [&](std::int64_t begin, std::int64_t end) noexcept {
                 for (std::int64_t i = begin; i < end; ++i) {
                   const auto x = static_cast<double>(i);
                   sums[static_cast<std::size_t>(i / kBlock)] += std::sin(x);
                 }
               });
  const double sum = std::accumulate(sums.begin(), sums.end(), 0.0);
  return std::bit_cast<std::uint64_t>(sum);
}

TEST(PoolTest, RunsEveryPartOnce) {
  Pool pool(3);
  for (int parts = 0; parts < 20; ++parts) {
    std::vector<std::atomic<int>> calls(static_cast<std::size_t>(parts));
    parallel_parts(pool, parts, [&](int part) noexcept {
      calls[static_cast<std::size_t>(part)].fetch_add(1);
    });
    for (const auto& count : calls) {
      ASSERT_EQ(count.load(), 1);
    }
  }
}

TEST(PoolTest, RunsPartPOnThreadPModuloThreadsWhenAllAreThere) {
  Pool pool(3);
  const auto first = threads_of_parts(pool, 7);
  const auto second = threads_of_parts(pool, 7);
  EXPECT_TRUE(::pthread_equal(first[0], ::pthread_self()));
  for (std::size_t part = 0; part < 7; ++part) {
    EXPECT_TRUE(::pthread_equal(first[part], first[part % 3]));
    EXPECT_TRUE(::pthread_equal(first[part], second[part]));
  }
  EXPECT_FALSE(::pthread_equal(first[1], first[2]));
}

TEST(PoolTest, TakesTheShareOfAWorkerThatIsNotThere) {
  // More threads than processors, all of them busy for good: workers come
  // late, and every part must run once all the same.
  std::atomic<bool> stop{false};
  std::vector<std::thread> neighbours;
  for (int i = 0; i < 2 * usable_processors(); ++i) {
    neighbours.emplace_back([&] {
      while (!stop.load(std::memory_order_relaxed)) {
      }
    });
  }
  Pool pool(4);
  std::array<std::int64_t, 4> plain{};
  for (std::int64_t round = 1; round <= 2000; ++round) {
    parallel_parts(pool, 4, [&](int part) noexcept {
      plain[static_cast<std::size_t>(part)] += 1;
    });
    ASSERT_EQ(std::count(plain.begin(), plain.end(), round), 4);
  }
  stop = true;
  for (std::thread& neighbour : neighbours) {
    neighbour.join();
  }
}

TEST(PoolTest, MakesTheWorkersWritesVisibleToTheCaller) {
  Pool pool(3);
  std::array<std::int64_t, 3> plain{};
  for (std::int64_t round = 1; round <= 5000; ++round) {
    parallel_parts(pool, 3, [&](int part) noexcept {
      plain[static_cast<std::size_t>(part)] += part + 1;
    });
    ASSERT_EQ(plain[0] + plain[1] + plain[2], 6 * round);
  }
}

TEST(PoolTest, WakesWorkersThatSleep) {
  Pool pool(2, {.spin_ns = 0});
  std::int64_t count = 0;
  for (int round = 0; round < 200; ++round) {
    if (round % 20 == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
    }
    parallel_parts(pool, 2, [&](int part) noexcept {
      if (part == 1) {
        ++count;
      }
    });
  }
  EXPECT_EQ(count, 200);
}

TEST(PoolTest, RunsANestedCallSeriallyInItsOwnThread) {
  Pool pool(2);
  std::atomic<int> strangers{0};
  std::atomic<int> inner_parts{0};
  parallel_parts(pool, 2, [&](int) noexcept {
    const pthread_t outer = ::pthread_self();
    parallel_parts(pool, 5, [&](int) noexcept {
      strangers += ::pthread_equal(outer, ::pthread_self()) == 0 ? 1 : 0;
      ++inner_parts;
    });
  });
  EXPECT_EQ(strangers.load(), 0);
  EXPECT_EQ(inner_parts.load(), 10);
}

TEST(PoolTest, ServesSecondCallersInTheirOwnThread) {
  Pool pool(2);
  std::atomic<std::int64_t> total{0};
  const auto call_often = [&] {
    for (int round = 0; round < 500; ++round) {
      std::array<std::int64_t, 4> plain{};
      parallel_parts(pool, 4, [&](int part) noexcept {
        plain[static_cast<std::size_t>(part)] = part;
      });
      total += std::accumulate(plain.begin(), plain.end(), std::int64_t{0});
    }
  };
  std::thread second(call_often);
  std::thread third(call_often);
  call_often();
  second.join();
  third.join();
  EXPECT_EQ(total.load(), 3 * 500 * 6);
}

TEST(PoolTest, HasTheSameBitsForAnyThreadCountBesideABusyNeighbour) {
  std::atomic<bool> stop{false};
  std::thread neighbour([&] {
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  const std::uint64_t expected = hash_of_work(serial_executor());
  for (int threads = 1; threads <= 3; ++threads) {
    Pool pool(threads);
    for (int round = 0; round < 20; ++round) {
      EXPECT_EQ(hash_of_work(pool), expected) << threads << " threads";
    }
  }
  stop = true;
  neighbour.join();
}

// The stack of the first worker, as the system sees it.
Bytes stack_bytes_of_a_worker(Pool& pool) {
  std::size_t stack = 0;
  Meeting meeting(2);
  parallel_parts(pool, 2, [&](int part) noexcept {
    meeting.come();
    if (part == 1) {
      pthread_attr_t attributes;
      ::pthread_getattr_np(::pthread_self(), &attributes);
      ::pthread_attr_getstacksize(&attributes, &stack);
      ::pthread_attr_destroy(&attributes);
    }
  });
  return static_cast<Bytes>(stack);
}

TEST(PoolTest, StatesItsStacksAndTakesThemBack) {
  const Bytes before = stack_bytes_listed();
  {
    Pool pool(3, {.stack_bytes = 192 * kKiB});
    const Bytes each = stack_bytes_of_a_worker(pool) + ::sysconf(_SC_PAGESIZE);
    EXPECT_EQ(stack_bytes_listed() - before, 2 * each);
    pool.resize(2);
    EXPECT_EQ(stack_bytes_listed() - before, each);
  }
  EXPECT_EQ(stack_bytes_listed(), before);
}

TEST(PoolTest, StartsWorkersWithTheStackAskedFor) {
  Pool large(2, {.stack_bytes = 320 * kKiB});
  Pool small(2, {.stack_bytes = 192 * kKiB});
  EXPECT_GE(stack_bytes_of_a_worker(small), 192 * kKiB);
  EXPECT_EQ(stack_bytes_of_a_worker(large) - stack_bytes_of_a_worker(small),
            128 * kKiB);
}

TEST(PoolTest, LeavesSignalsToTheHostsThreads) {
  Pool pool(2);
  bool is_blocked = false;
  Meeting meeting(2);
  parallel_parts(pool, 2, [&](int part) noexcept {
    meeting.come();
    if (part == 1) {
      sigset_t mask;
      ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
      is_blocked = ::sigismember(&mask, SIGINT) == 1;
    }
  });
  sigset_t mine;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mine);
  EXPECT_TRUE(is_blocked);
  EXPECT_EQ(::sigismember(&mine, SIGINT), 0);
}

TEST(PoolTest, ChangesItsThreadCountInPlace) {
  Pool pool(1);
  for (const int threads : {3, 2, 2, 1, 3}) {
    pool.resize(threads);
    EXPECT_EQ(pool.threads(), threads);
    const auto of_part = threads_of_parts(pool, 3);
    EXPECT_EQ(::pthread_equal(of_part[0], of_part[1]) == 0, threads > 1);
    EXPECT_EQ(::pthread_equal(of_part[0], of_part[2]) == 0, threads > 2);
  }
}

TEST(PoolTest, RefusesToChangeItsThreadCountWhileAJobRuns) {
  Pool pool(2);
  std::atomic<int> refused{0};
  parallel_parts(pool, 2, [&](int) noexcept {
    try {
      pool.resize(3);
    } catch (const ValueError&) {
      ++refused;
    }
  });
  EXPECT_EQ(refused.load(), 2);
  EXPECT_EQ(pool.threads(), 2);
}

TEST(PoolTest, RefusesThreadCountsAndStacksOutOfRange) {
  EXPECT_THROW(Pool(0), ValueError);
  EXPECT_THROW(Pool(-1), ValueError);
  EXPECT_THROW(Pool(kMaxThreads + 1), ValueError);
  EXPECT_THROW(Pool(2, {.stack_bytes = 1024}), ValueError);
  Pool pool(2);
  EXPECT_THROW(pool.resize(0), ValueError);
  EXPECT_EQ(pool.threads(), 2);
}

TEST(PoolTest, ReportsThatTheSystemHasNoThreadsAndLeavesNothingBehind) {
  const Bytes before = stack_bytes_listed();
  constexpr Bytes kMoreThanAnAddressSpace = Bytes{1} << 50U;
  EXPECT_THROW(Pool(3, {.stack_bytes = kMoreThanAnAddressSpace}), ThreadError);
  EXPECT_EQ(stack_bytes_listed(), before);
}

TEST(DefaultPoolTest, TakesTheThreadCountThatIsSet) {
  set_default_threads(3);
  Pool& pool = default_pool();
  EXPECT_EQ(pool.threads(), 3);
  set_default_threads(0);
  EXPECT_EQ(pool.threads(), std::min(usable_processors(), kMaxThreads));
  EXPECT_EQ(&default_pool(), &pool);
  EXPECT_THROW(set_default_threads(-1), ValueError);
}

}  // namespace
}  // namespace neap::threads
