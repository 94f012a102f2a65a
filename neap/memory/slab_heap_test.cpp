// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/slab_heap.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

struct Piece {
  unsigned char* data;
  Bytes size;
  unsigned char mark;
  bool is_intact() const {
    for (Bytes i = 0; i < size; ++i) {
      if (data[i] != mark) {
        return false;
      }
    }
    return true;
  }
};

TEST(SlabHeapTest, PicksTheSmallestClassThatHoldsASize) {
  for (Bytes size = 1; size <= kLargestSmall; ++size) {
    const int c = size_class_of(size);
    EXPECT_GE(size_of_class(c), size);
    EXPECT_TRUE(c == 0 || size_of_class(c - 1) < size);
    EXPECT_EQ(size_of_class(c) % kSlabUnit, 0);
  }
}

TEST(SlabHeapTest, KeepsBlocksApartUnderRandomUse) {
  PageHeap pages;
  SlabHeap slabs(pages);
  std::vector<Piece> pieces;
  TestRandom random(2);
  for (int step = 0; step < 40'000; ++step) {
    if (pieces.size() < 1500 && random() % 100 < 55) {
      const Bytes size = 1 + static_cast<Bytes>(random() % 2048);
      const Bytes expected = pages.held() + slabs.growth_for(size);
      auto* data = static_cast<unsigned char*>(slabs.allocate(size));
      ASSERT_EQ(pages.held(), expected);
      ASSERT_EQ(reinterpret_cast<std::uintptr_t>(data) % 64, 0U);
      pieces.push_back({data, size, static_cast<unsigned char>(random())});
      std::memset(data, pieces.back().mark, static_cast<std::size_t>(size));
    } else if (!pieces.empty()) {
      const std::size_t at = random() % pieces.size();
      ASSERT_TRUE(pieces[at].is_intact());
      slabs.release(pieces[at].data);
      pieces[at] = pieces.back();
      pieces.pop_back();
    }
  }
  EXPECT_TRUE(slabs.is_consistent());
  for (const Piece& piece : pieces) {
    slabs.release(piece.data);
  }
  EXPECT_TRUE(slabs.is_consistent());
  pages.trim();
  EXPECT_EQ(pages.held(), pages.books());
}

TEST(SlabHeapTest, FillsASlabToItsLastBlockBeforeTheNext) {
  PageHeap pages;
  SlabHeap slabs(pages);
  std::vector<void*> blocks;
  for (int i = 0; i < 510; ++i) {
    blocks.push_back(slabs.allocate(64));
  }
  EXPECT_EQ(pages.held() - pages.books(), kSlabBytes);
  blocks.push_back(slabs.allocate(64));
  EXPECT_EQ(pages.held() - pages.books(), 2 * kSlabBytes);
  for (void* block : blocks) {
    slabs.release(block);
  }
}

TEST(SlabHeapTest, AllocatesTheLowestFreeBlockOfASlab) {
  PageHeap pages;
  SlabHeap slabs(pages);
  void* a = slabs.allocate(100);
  void* b = slabs.allocate(100);
  void* c = slabs.allocate(100);
  slabs.release(b);
  slabs.release(a);
  EXPECT_EQ(slabs.allocate(100), a);
  EXPECT_EQ(slabs.allocate(100), b);
  for (void* block : {a, b, c}) {
    slabs.release(block);
  }
}

TEST(SlabHeapTest, ReturnsEmptySlabsAtOnce) {
  PageHeap pages;
  SlabHeap slabs(pages);
  std::vector<void*> blocks;
  for (int i = 0; i < 3 * 15; ++i) {
    blocks.push_back(slabs.allocate(2048));
  }
  EXPECT_EQ(pages.idle(), 0);
  for (void* block : blocks) {
    slabs.release(block);
  }
  EXPECT_EQ(pages.idle(), 3 * kSlabBytes);
}

TEST(SlabHeapTest, FillsTheOldestSlabFirstWhateverTheOrderOfReleases) {
  PageHeap pages;
  SlabHeap slabs(pages);
  std::vector<void*> blocks;
  for (int i = 0; i < 4 * 15; ++i) {
    blocks.push_back(slabs.allocate(2048));
  }
  for (const std::size_t at : {50U, 5U, 35U, 20U}) {
    slabs.release(blocks[at]);
  }
  for (const std::size_t at : {5U, 20U, 35U, 50U}) {
    EXPECT_EQ(slabs.allocate(2048), blocks[at]);
  }
  for (void* block : blocks) {
    slabs.release(block);
  }
}

// How many slabs there are after each of some thousand requests, the same for
// the same seed.
std::vector<Bytes> slabs_in_use(PageHeap& pages, std::uint32_t seed) {
  SlabHeap slabs(pages);
  std::mt19937 random(seed);
  std::vector<void*> live;
  std::vector<Bytes> used;
  for (int i = 0; i < 4000; ++i) {
    if (live.empty() || random() % 200 < (i % 1000 < 500 ? 120 : 80)) {
      live.push_back(slabs.allocate(1536));
    } else {
      const std::size_t at = random() % live.size();
      slabs.release(live[at]);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(at));
    }
    used.push_back(pages.held() - pages.books() - pages.idle());
  }
  for (void* block : live) {
    slabs.release(block);
  }
  return used;
}

TEST(SlabHeapTest, TakesAsManySlabsWhereverTheyLie) {
  PageHeap downward;  // as the system places mappings
  PageHeap upward;    // cut from one
  upward.release(upward.allocate(4 * kMiB, kSlabBytes));
  EXPECT_EQ(slabs_in_use(downward, 3), slabs_in_use(upward, 3));
}

}  // namespace
}  // namespace neap::memory
