// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/book_array.hpp"

#include <gtest/gtest.h>

#include <set>

#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

TEST(BookArrayTest, SaysBeforehandWhatItWillTake) {
  SystemPages pages;
  BookArray<std::uint64_t> array(pages);
  for (const std::size_t count : {1U, 512U, 513U, 5000U, 100U}) {
    const Bytes held = pages.held();
    const Bytes growth = array.growth_for(count);
    ASSERT_TRUE(array.reserve(count));
    EXPECT_EQ(pages.held() - held, growth);
    EXPECT_GE(array.capacity(), count);
  }
}

TEST(BookArrayTest, StaysAsItIsWhereTheSystemRefuses) {
  SystemPages pages;
  BookArray<std::uint64_t> array(pages);
  EXPECT_FALSE(array.reserve(std::size_t{1} << 50U));
  ASSERT_TRUE(array.reserve(10));
  array[9] = 7;
  const Bytes held = pages.held();
  const std::size_t capacity = array.capacity();
  EXPECT_FALSE(array.reserve(std::size_t{1} << 50U));
  EXPECT_EQ(pages.held(), held);
  EXPECT_EQ(array.capacity(), capacity);
  EXPECT_EQ(array[9], 7U);
}

TEST(BookIndexTest, SaysWhereTheSystemRefuses) {
  SystemPages pages;
  BookIndex index(pages);
  EXPECT_FALSE(index.reserve(std::size_t{1} << 50U, [](auto) {}));
  EXPECT_EQ(pages.held(), 0);
}

TEST(BookArrayTest, ReturnsItsPages) {
  SystemPages pages;
  {
    BookArray<int> array(pages);
    ASSERT_TRUE(array.reserve(10'000));
  }
  EXPECT_EQ(pages.held(), 0);
}

// Ids hash to few places, so that runs are long and erasing must close gaps.
std::uint32_t crowded(std::uint32_t id) {
  return id % 7 * 3;
}

bool reserve_one_more(BookIndex& index, const std::set<std::uint32_t>& model) {
  return index.reserve(model.size() + 1, [&](auto insert) {
    for (const std::uint32_t at : model) {
      insert(crowded(at), at);
    }
  });
}

TEST(BookIndexTest, FindsExactlyWhatIsInItAfterRandomChanges) {
  SystemPages pages;
  BookIndex index(pages);
  std::set<std::uint32_t> model;
  TestRandom random(3);
  for (int step = 0; step < 20'000; ++step) {
    const std::uint32_t id = 1 + random() % 200;
    if (model.count(id) != 0) {
      index.erase(crowded(id), id, crowded);
      model.erase(id);
    } else {
      ASSERT_TRUE(reserve_one_more(index, model));
      index.insert(crowded(id), id);
      model.insert(id);
    }
    const std::uint32_t probe = 1 + random() % 200;
    const bool is_there =
        index.find(crowded(probe), [&](auto at) { return at == probe; }) != 0;
    ASSERT_EQ(is_there, model.count(probe) != 0);
  }
}

// Room for 512 entries, at most half of a page of 1024 slots.
TEST(BookIndexTest, AddsItsEntriesAnewOnlyWhereItGrows) {
  SystemPages pages;
  BookIndex index(pages);
  int rebuilt = 0;
  const auto reserve = [&](std::size_t count) {
    ASSERT_TRUE(index.reserve(count, [&](auto /*insert*/) { ++rebuilt; }));
  };
  reserve(1);
  reserve(512);
  EXPECT_EQ(rebuilt, 1);
  EXPECT_EQ(pages.held(), page_bytes());
  EXPECT_GT(index.growth_for(513), 0);
  reserve(513);
  EXPECT_EQ(rebuilt, 2);
}

TEST(BookIndexTest, KeepsEntriesThroughGrowth) {
  SystemPages pages;
  BookIndex index(pages);
  for (std::uint32_t id = 1; id <= 5000; ++id) {
    ASSERT_TRUE(index.reserve(id, [&](auto insert) {
      for (std::uint32_t at = 1; at < id; ++at) {
        insert(hash_of_key(at), at);
      }
    }));
    index.insert(hash_of_key(id), id);
  }
  for (std::uint32_t id = 1; id <= 5000; ++id) {
    EXPECT_EQ(index.find(hash_of_key(id), [&](auto at) { return at == id; }),
              id);
  }
}

}  // namespace
}  // namespace neap::memory
