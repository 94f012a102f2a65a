// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/slot_index.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

// A list with an index beside it, as its users have one.
class Indexed {
 public:
  void add(std::size_t key, std::size_t hash) {
    if (index_.reserve(keys_.size() + 1)) {
      for (std::size_t i = 0; i < keys_.size(); ++i) {
        index_.add(hashes_[i], i);
      }
    }
    index_.add(hash, keys_.size());
    keys_.push_back(key);
    hashes_.push_back(hash);
  }
  std::size_t find(std::size_t key, std::size_t hash) {
    looks_ = 0;
    return index_.find(hash, [&](std::size_t at) {
      ++looks_;
      return keys_[at] == key;
    });
  }
  int looks() const { return looks_; }

 private:
  SlotIndex index_;
  std::vector<std::size_t> keys_;
  std::vector<std::size_t> hashes_;
  int looks_ = 0;
};

TEST(SlotIndexTest, FindsTheFirstOfEqualThingsAndNothingElse) {
  TestRandom random(5);
  Indexed list;
  std::vector<std::size_t> keys;
  for (std::size_t i = 0; i < 2000; ++i) {
    keys.push_back(random() % 1500);
    list.add(keys.back(), keys.back() % 97);  // crowded
  }
  for (std::size_t key = 0; key < 1600; ++key) {
    const auto first = std::find(keys.begin(), keys.end(), key);
    const std::size_t expected =
        first == keys.end() ? SlotIndex::kNone
                            : static_cast<std::size_t>(first - keys.begin());
    EXPECT_EQ(list.find(key, key % 97), expected) << key;
  }
}

TEST(SlotIndexTest, IsInUseOnceThereIsRoom) {
  SlotIndex index;
  EXPECT_FALSE(index.is_in_use());
  EXPECT_TRUE(index.reserve(3));
  EXPECT_TRUE(index.is_in_use());
  EXPECT_FALSE(index.reserve(4));  // eight slots, at most half full
  EXPECT_TRUE(index.reserve(5));
}

TEST(SlotIndexTest, EndsItsSearchWhereEverythingHasOneHash) {
  SlotIndex index;
  ASSERT_TRUE(index.reserve(8));
  for (std::size_t i = 0; i < 8; ++i) {
    index.add(5, i);
  }
  EXPECT_EQ(index.find(5, [](std::size_t /*at*/) { return false; }),
            SlotIndex::kNone);
  EXPECT_EQ(index.find(5, [](std::size_t at) { return at == 7; }), 7U);
}

// Addresses of objects that lie side by side: multiples of 64.
TEST(SlotIndexTest, LooksAtFewThingsForOneOfManyPointers) {
  Indexed list;
  for (std::size_t i = 0; i < 4096; ++i) {
    list.add(i, 0x7F0000000000U + 64 * i);
  }
  int looks = 0;
  for (std::size_t i = 0; i < 4096; ++i) {
    EXPECT_EQ(list.find(i, 0x7F0000000000U + 64 * i), i);
    looks += list.looks();
  }
  EXPECT_LT(looks, 2 * 4096);
}

}  // namespace
}  // namespace neap::memory
