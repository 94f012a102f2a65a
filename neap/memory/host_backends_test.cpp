// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/host_backends.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

namespace neap::memory {
namespace {

// The bytes that a backend of the process's choice holds for 100 bytes, with
// NEAP_ALLOCATOR set so.
Bytes held_with(const char* allocator, HostAllocator host) {
  const char* before = std::getenv("NEAP_ALLOCATOR");
  const std::string kept = before != nullptr ? before : "";
  ::setenv("NEAP_ALLOCATOR", allocator, 1);
  const auto backend = make_host_backend(host, kUnlimited);
  if (before != nullptr) {
    ::setenv("NEAP_ALLOCATOR", kept.c_str(), 1);
  } else {
    ::unsetenv("NEAP_ALLOCATOR");
  }
  void* block = backend->allocate(100, 64);
  const Bytes held = backend->held();
  backend->release(block, 100, 64);
  return held;
}

TEST(HostBackendTest, IsWhatTheEnvironmentSaysUnlessTheCallerDoes) {
  EXPECT_EQ(held_with("system", HostAllocator::kAuto), 100);
  EXPECT_GT(held_with("pooled", HostAllocator::kAuto), 100);
  EXPECT_GT(held_with("system", HostAllocator::kPooled), 100);
  EXPECT_EQ(held_with("pooled", HostAllocator::kSystem), 100);
}

TEST(HostBackendTest, KeepsAQuarterOfTheMachineIdleUnlessItIsTold) {
  EXPECT_EQ(idle_limit_of(0), 0);
  EXPECT_EQ(idle_limit_of(5 * kMiB), 5 * kMiB);
  const Bytes quarter = idle_limit_of(kUnlimited);
  EXPECT_EQ(quarter,
            Bytes{::sysconf(_SC_PHYS_PAGES)} * ::sysconf(_SC_PAGESIZE) / 4);
}

// The reason for the default bound of idle pages (docs/memory.md).
TEST(PooledBackendTest, SizesInTurnNeedMoreIdlePagesThanAreEverInUse) {
  const auto calls_of_a_turn = [](PooledBackend& backend) {
    const std::int64_t before = backend.system_calls();
    for (const Bytes size : {kMiB, kMiB * 3 / 2}) {
      void* block = backend.allocate(size, 64);
      EXPECT_NE(block, nullptr);
      backend.release(block, size, 64);
    }
    return backend.system_calls() - before;
  };
  PooledBackend kept(kUnlimited);
  EXPECT_GT(calls_of_a_turn(kept), 0);
  EXPECT_EQ(calls_of_a_turn(kept), 0);
  EXPECT_GT(kept.idle(), kMiB * 3 / 2 + 64 * kKiB);
  PooledBackend bounded(kMiB * 3 / 2 + 64 * kKiB);
  calls_of_a_turn(bounded);
  EXPECT_GT(calls_of_a_turn(bounded), 0);
}

TEST(PooledBackendTest, HoldsWhatItSaidBeforehandForEverySize) {
  PooledBackend backend(kUnlimited);
  for (Bytes size = 1; size < 10 * kMiB; size = size * 5 / 3 + 1) {
    for (const Bytes alignment : {Bytes{1}, Bytes{64}, Bytes{4096}}) {
      const Bytes expected =
          backend.held() + backend.growth_for(size, alignment);
      void* block = backend.allocate(size, alignment);
      ASSERT_NE(block, nullptr);
      EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block) %
                    static_cast<std::uintptr_t>(alignment),
                0U);
      EXPECT_EQ(backend.held(), expected);
      backend.release(block, size, alignment);
      EXPECT_EQ(backend.growth_for(size, alignment), 0);
    }
  }
  EXPECT_TRUE(backend.is_consistent());
}

TEST(PooledBackendTest, PutsSmallBlocksIntoSlabsAndOthersOnPages) {
  PooledBackend backend(kUnlimited);
  const auto grown = [&](Bytes size, Bytes alignment) {
    const Bytes before = backend.held();
    backend.allocate(size, alignment);  // goes with the test
    return backend.held() - before;
  };
  grown(kLargestSmall, kSlabUnit);
  grown(page_bytes(), page_bytes());
  EXPECT_EQ(grown(kLargestSmall, kSlabUnit), 0);
  EXPECT_EQ(grown(kLargestSmall + 1, kSlabUnit), page_bytes());
  EXPECT_EQ(grown(kLargestSmall, 2 * kSlabUnit), page_bytes());
}

TEST(PooledBackendTest, TrimReturnsAllButItsBookkeeping) {
  PooledBackend backend(kUnlimited);
  void* small = backend.allocate(100, 64);
  void* large = backend.allocate(5 * kMiB, 64);
  backend.release(small, 100, 64);
  backend.release(large, 5 * kMiB, 64);
  const Bytes idle = backend.idle();
  EXPECT_EQ(idle, 5 * kMiB + kSlabBytes);
  EXPECT_EQ(backend.trim(), idle);
  EXPECT_EQ(backend.idle(), 0);
  EXPECT_LE(backend.held(), 4 * page_bytes());  // its tables
}

TEST(PooledBackendTest, KeepsNoMoreIdleThanItsLimit) {
  PooledBackend backend(kMiB);
  void* blocks[] = {backend.allocate(kMiB, 64), backend.allocate(kMiB, 64),
                    backend.allocate(50, 64)};
  backend.release(blocks[0], kMiB, 64);
  backend.release(blocks[1], kMiB, 64);
  EXPECT_LE(backend.idle(), kMiB);
  backend.release(blocks[2], 50, 64);
  EXPECT_LE(backend.idle(), kMiB);
}

TEST(PooledBackendTest, KeepsNothingIdleWhenTheLimitIsZero) {
  PooledBackend backend(0);
  void* small = backend.allocate(50, 64);
  void* large = backend.allocate(kMiB, 64);
  backend.release(small, 50, 64);
  backend.release(large, kMiB, 64);
  EXPECT_EQ(backend.idle(), 0);
}

#ifdef NEAP_CHECKED
TEST(PooledBackendTest, FillsFreshBlocksWithNotANumber) {
  PooledBackend backend(kUnlimited);
  auto* values = static_cast<float*>(backend.allocate(16, 64));
  EXPECT_NE(values[3], values[3]);
  backend.release(values, 16, 64);
}
#endif

TEST(SystemBackendTest, HoldsExactlyTheLiveBytes) {
  SystemBackend backend;
  void* a = backend.allocate(100, 64);
  void* b = backend.allocate(7, 1);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a) % 64, 0U);
  EXPECT_EQ(backend.held(), 107);
  EXPECT_EQ(backend.growth_for(9, 64), 9);
  backend.release(a, 100, 64);
  backend.release(b, 7, 1);
  EXPECT_EQ(backend.held(), 0);
}

}  // namespace
}  // namespace neap::memory
