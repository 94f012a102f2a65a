// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "support/counting_malloc.hpp"

#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/mman.h>

#include <cstdlib>
#include <thread>
#include <vector>

namespace neap::support {
namespace {

constexpr std::size_t kBytes = 100000;
constexpr std::int64_t kPage = 4096;

class CountingMallocTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!is_counting()) {
      GTEST_SKIP() << "a sanitizer has a malloc of its own";
    }
    reset_outside_calls();
    before_ = outside_stats();
  }
  std::int64_t grown() const {
    return outside_stats().bytes_live - before_.bytes_live;
  }
  OutsideStats before_;
};

// The compiler must not see that a block goes unused.
void* keep(void* block) {
  asm volatile("" : : "g"(block) : "memory");
  return block;
}

TEST_F(CountingMallocTest, CountsABlockAsLongAsItLives) {
  void* block = keep(std::malloc(kBytes));
  EXPECT_EQ(grown(), static_cast<std::int64_t>(malloc_usable_size(block)));
  EXPECT_EQ(outside_stats().heap_calls, 1);
  EXPECT_EQ(outside_stats().largest_heap_call,
            static_cast<std::int64_t>(kBytes));
  std::free(block);
  EXPECT_EQ(grown(), 0);
  EXPECT_EQ(outside_stats().free_calls, 1);
}

TEST_F(CountingMallocTest, CountsEveryFormOfMalloc) {
  void* posix = nullptr;
  ASSERT_EQ(posix_memalign(&posix, 64, kBytes), 0);
  const std::vector<void*> blocks{
      keep(std::calloc(10, kBytes)), keep(std::aligned_alloc(64, 6400)),
      keep(memalign(256, kBytes)), keep(std::malloc(1)), keep(posix)};
  std::int64_t usable = 0;
  for (void* block : blocks) {
    usable += static_cast<std::int64_t>(malloc_usable_size(block));
    std::free(block);
  }
  const OutsideStats after = outside_stats();
  EXPECT_GE(usable, 12 * static_cast<std::int64_t>(kBytes));
  EXPECT_GE(after.heap_calls, 5);  // and the vector's
  EXPECT_EQ(after.free_calls, 5);
  EXPECT_EQ(after.largest_heap_call, 10 * static_cast<std::int64_t>(kBytes));
}

TEST_F(CountingMallocTest, FollowsABlockThatIsResized) {
  void* block = keep(std::malloc(100));
  block = keep(std::realloc(block, kBytes));
  EXPECT_EQ(grown(), static_cast<std::int64_t>(malloc_usable_size(block)));
  std::free(block);
  EXPECT_EQ(grown(), 0);
}

TEST_F(CountingMallocTest, KeepsCountingABlockThatCannotGrow) {
  void* volatile block = keep(std::malloc(kBytes));
  const std::int64_t usable = grown();
  const std::size_t too_much = static_cast<std::size_t>(1) << 60U;
  volatile std::size_t hidden = too_much;
  EXPECT_EQ(std::realloc(block, hidden), nullptr);
  EXPECT_EQ(grown(), usable);
  std::free(block);
  EXPECT_EQ(grown(), 0);
}

TEST_F(CountingMallocTest, CountsCallsThatGotNothing) {
  volatile std::size_t too_much = static_cast<std::size_t>(1) << 60U;
  EXPECT_EQ(keep(std::malloc(too_much)), nullptr);
  std::free(keep(std::malloc(1)));
  EXPECT_EQ(outside_stats().failed_calls, 1);
  reset_outside_calls();
  EXPECT_EQ(outside_stats().failed_calls, 0);
}

TEST_F(CountingMallocTest, CountsOperatorNew) {
  auto* values = new std::vector<int>(1000);
  keep(values);
  EXPECT_GE(grown(), 4000);
  delete values;
  EXPECT_EQ(grown(), 0);
}

TEST_F(CountingMallocTest, CountsMappedPages) {
  void* pages = mmap(nullptr, 5 * kPage - 100, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  EXPECT_EQ(grown(), 5 * kPage);
  EXPECT_EQ(outside_stats().largest_map_call, 5 * kPage);
  pages = mremap(pages, 5 * kPage, 9 * kPage, MREMAP_MAYMOVE);
  EXPECT_EQ(grown(), 9 * kPage);
  munmap(pages, 9 * kPage);
  EXPECT_EQ(grown(), 0);
  EXPECT_EQ(outside_stats().map_calls, 3);
}

TEST_F(CountingMallocTest, DoesNotCountPagesThatNobodyMayTouch) {
  void* pages =
      mmap(nullptr, 16 * kPage, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  EXPECT_EQ(grown(), 0);
  auto* bytes = static_cast<std::byte*>(pages);
  mprotect(bytes + 4 * kPage, 2 * kPage, PROT_READ | PROT_WRITE);
  EXPECT_EQ(grown(), 2 * kPage);
  mprotect(bytes + 5 * kPage, kPage, PROT_NONE);
  EXPECT_EQ(grown(), kPage);
  munmap(pages, 16 * kPage);
  EXPECT_EQ(grown(), 0);
}

TEST_F(CountingMallocTest, CountsThreadsTogether) {
  std::thread warm([] { keep(std::malloc(1)); });
  warm.join();
  const std::int64_t start = grown();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([] {
      for (int i = 0; i < 10000; ++i) {
        std::free(keep(std::malloc(64)));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GE(outside_stats().heap_calls, 40000);
  threads.clear();
  threads.shrink_to_fit();
  EXPECT_LE(grown() - start, 4096);
}

}  // namespace
}  // namespace neap::support
