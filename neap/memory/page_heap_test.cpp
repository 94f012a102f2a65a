// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/page_heap.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

struct Piece {
  std::uint64_t* words;
  Bytes size;

  // Every page's first word says where it is and whose.
  void mark() const {
    for (Bytes at = 0; at < size; at += page_bytes()) {
      words[at / 8] = expected(at);
    }
  }
  bool is_intact() const {
    for (Bytes at = 0; at < size; at += page_bytes()) {
      if (words[at / 8] != expected(at)) {
        return false;
      }
    }
    return true;
  }
  std::uint64_t expected(Bytes at) const {
    return reinterpret_cast<std::uintptr_t>(words) * 31 +
           static_cast<std::uint64_t>(at + size);
  }
};

bool is_aligned(const void* block, Bytes alignment) {
  return reinterpret_cast<std::uintptr_t>(block) %
             static_cast<std::uintptr_t>(alignment) ==
         0;
}

TEST(PageHeapTest, RoundsUpToPagesAndCountsThemAsHeld) {
  PageHeap heap;
  void* block = heap.allocate(page_bytes() + 1);
  EXPECT_TRUE(is_aligned(block, page_bytes()));
  EXPECT_EQ(heap.held() - heap.books(), 2 * page_bytes());
  EXPECT_EQ(heap.idle(), 0);
  heap.release(block);
  EXPECT_EQ(heap.idle(), 2 * page_bytes());
}

// An aligned block leaves a free extent on either side of it.
TEST(PageHeapTest, CutsAlignedBlocksOutOfTheMiddle) {
  PageHeap heap;
  heap.release(heap.allocate(16 * page_bytes(), 16 * page_bytes()));
  void* first = heap.allocate(page_bytes());
  void* aligned = heap.allocate(page_bytes(), 2 * page_bytes());
  EXPECT_EQ(static_cast<std::byte*>(aligned) - static_cast<std::byte*>(first),
            2 * page_bytes());
  EXPECT_TRUE(heap.is_consistent());
  heap.release(first);
  EXPECT_TRUE(heap.is_consistent());
  EXPECT_EQ(heap.idle(), 15 * page_bytes());
  heap.release(aligned);
  EXPECT_EQ(heap.idle(), 16 * page_bytes());
  EXPECT_EQ(heap.growth_for(16 * page_bytes()), 0);
}

// Descriptors are reused, the one dropped last first: the first of all ends up
// to the right of two others, which then merge.
TEST(PageHeapTest, TellsTheRightNeighbourOfAMerge) {
  PageHeap heap;
  void* first = heap.allocate(page_bytes());
  void* second = heap.allocate(page_bytes());
  void* blocks[] = {heap.allocate(4 * page_bytes()), nullptr, nullptr};
  for (void* block : {first, second}) {
    heap.release(block);
    heap.trim();
  }
  heap.release(blocks[0]);
  blocks[0] = heap.allocate(page_bytes());
  blocks[1] = heap.allocate(page_bytes());
  blocks[2] = heap.allocate(2 * page_bytes());
  heap.release(blocks[0]);
  heap.release(blocks[1]);
  EXPECT_TRUE(heap.is_consistent());
  heap.release(blocks[2]);
  EXPECT_TRUE(heap.is_consistent());
  EXPECT_EQ(heap.growth_for(4 * page_bytes()), 0);
}

// The same where its tables grow: the index at 512 live blocks, then the
// extents.
TEST(PageHeapTest, TakesExactlyWhatItSaidBeforehandOfManyBlocks) {
  PageHeap heap;
  std::vector<void*> blocks;
  for (int i = 0; i < 3000; ++i) {
    const Bytes expected = heap.held() + heap.growth_for(page_bytes());
    blocks.push_back(heap.allocate(page_bytes()));
    ASSERT_EQ(heap.held(), expected) << i;
  }
  for (void* block : blocks) {
    heap.release(block);
  }
}

TEST(PageHeapTest, KeepsBlocksApartUnderRandomUse) {
  PageHeap heap;
  std::vector<Piece> pieces;
  TestRandom random(11);
  for (int step = 0; step < 20'000; ++step) {
    if (pieces.size() < 200 && random() % 2 == 0) {
      const Bytes size =
          1 +
          static_cast<Bytes>(random() % (random() % 8 == 0 ? 400'000 : 30'000));
      const Bytes alignment = random() % 4 == 0 ? 32 * kKiB : page_bytes();
      const Bytes expected = heap.held() + heap.growth_for(size, alignment);
      void* block = heap.allocate(size, alignment);
      ASSERT_TRUE(is_aligned(block, alignment));
      ASSERT_EQ(heap.held(), expected);
      pieces.push_back({static_cast<std::uint64_t*>(block), size});
      pieces.back().mark();
    } else if (!pieces.empty()) {
      const std::size_t at = random() % pieces.size();
      ASSERT_TRUE(pieces[at].is_intact());
      heap.release(pieces[at].words);
      pieces[at] = pieces.back();
      pieces.pop_back();
    }
    if (step % 500 == 0) {
      ASSERT_TRUE(heap.is_consistent());
      if (step % 5000 == 0) {
        heap.trim();
        ASSERT_EQ(heap.idle(), 0);
      }
    }
  }
  for (const Piece& piece : pieces) {
    heap.release(piece.words);
  }
  heap.trim();
  EXPECT_EQ(heap.held(), heap.books());
  EXPECT_TRUE(heap.is_consistent());
}

TEST(PageHeapTest, MergesNeighboursOnBothSides) {
  PageHeap heap;
  void* whole = heap.allocate(8 * page_bytes());
  heap.release(whole);
  void* a = heap.allocate(2 * page_bytes());
  void* b = heap.allocate(3 * page_bytes());
  void* c = heap.allocate(3 * page_bytes());
  EXPECT_EQ(heap.idle(), 0);
  heap.release(a);
  heap.release(c);
  heap.release(b);
  EXPECT_EQ(heap.growth_for(8 * page_bytes()), 0);
  EXPECT_EQ(heap.allocate(8 * page_bytes()), whole);
  heap.release(whole);
}

TEST(PageHeapTest, TakesTheBestFitWhateverTheOrderOfReleases) {
  PageHeap heap;
  void* small = heap.allocate(4 * page_bytes());
  void* large = heap.allocate(9 * page_bytes());
  for (int i = 0; i < 2; ++i) {
    heap.release(i == 0 ? small : large);
    heap.release(i == 0 ? large : small);
    EXPECT_EQ(heap.allocate(4 * page_bytes()), small);
    EXPECT_EQ(heap.allocate(8 * page_bytes()), large);
  }
  heap.release(small);
  heap.release(large);
}

// The system places the later mapping below the earlier one, or anywhere.
TEST(PageHeapTest, OfEqualFitsTakesTheOldestMappings) {
  PageHeap heap;
  void* older = heap.allocate(4 * page_bytes());
  void* newer = heap.allocate(4 * page_bytes());
  heap.release(newer);
  heap.release(older);
  EXPECT_EQ(heap.allocate(4 * page_bytes()), older);
  EXPECT_EQ(heap.allocate(4 * page_bytes()), newer);
  heap.release(older);
  heap.release(newer);
}

// A mapping whose pages are free and live by turns:
//
//   page   0   1 2 3 4   5 6 7   8 ... 11   12 ...
//          .   free      .       free       .
TEST(PageHeapTest, OfEqualFitsTakesTheFirstThatIsAligned) {
  PageHeap heap;
  heap.release(heap.allocate(64 * page_bytes(), 64 * page_bytes()));
  std::vector<void*> blocks;
  for (const Bytes pages : {1, 4, 3, 4, 52}) {
    blocks.push_back(heap.allocate(pages * page_bytes()));
  }
  ASSERT_TRUE(is_aligned(blocks[0], 64 * page_bytes()));
  heap.release(blocks[1]);
  heap.release(blocks[3]);
  EXPECT_EQ(heap.growth_for(4 * page_bytes(), 4 * page_bytes()), 0);
  EXPECT_EQ(heap.allocate(4 * page_bytes(), 4 * page_bytes()), blocks[3]);
  for (const std::size_t i : {0U, 2U, 3U, 4U}) {
    heap.release(blocks[i]);
  }
  EXPECT_EQ(heap.idle(), 64 * page_bytes());
}

TEST(PageHeapTest, ReturnsTheLargestUntilTheLimit) {
  PageHeap heap;
  void* blocks[] = {heap.allocate(4 * page_bytes()),
                    heap.allocate(16 * page_bytes()),
                    heap.allocate(8 * page_bytes())};
  for (void* block : blocks) {
    heap.release(block);
  }
  EXPECT_EQ(heap.shrink_idle(12 * page_bytes()), 16 * page_bytes());
  EXPECT_EQ(heap.idle(), 12 * page_bytes());
  EXPECT_EQ(heap.shrink_idle(12 * page_bytes()), 0);
}

TEST(PageHeapTest, TrimsAroundLiveBlocks) {
  PageHeap heap;
  void* whole = heap.allocate(9 * page_bytes());
  heap.release(whole);
  void* a = heap.allocate(3 * page_bytes());
  void* b = heap.allocate(3 * page_bytes());
  std::memset(b, 5, 3 * page_bytes());
  heap.release(a);
  EXPECT_EQ(heap.trim(), 6 * page_bytes());
  EXPECT_EQ(heap.held() - heap.books(), 3 * page_bytes());
  EXPECT_EQ(static_cast<char*>(b)[3 * page_bytes() - 1], 5);
  EXPECT_TRUE(heap.is_consistent());
  heap.release(b);
  EXPECT_EQ(heap.trim(), 3 * page_bytes());
}

TEST(PageHeapTest, RefusesWhatTheSystemRefuses) {
  PageHeap heap;
  EXPECT_EQ(heap.allocate(Bytes{1} << 47U), nullptr);
  EXPECT_EQ(heap.allocate(Bytes{1} << 42U | 1), nullptr);
  EXPECT_EQ(heap.held(), heap.books());
  EXPECT_TRUE(heap.is_consistent());
}

}  // namespace
}  // namespace neap::memory
