// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/treap.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

struct Number {
  int value;
  Number* lower;
  Number* higher;
};

struct Numbers {
  using Id = Number*;
  using Key = int;
  static Key key(Id id) { return id->value; }
  static std::uint32_t priority(Id id) {
    return static_cast<std::uint32_t>(id->value) * 2654435761U;
  }
  static Id& lower(Id id) { return id->lower; }
  static Id& higher(Id id) { return id->higher; }
};

std::vector<Number> numbers(int count) {
  std::vector<Number> result;
  for (int i = 0; i < count; ++i) {
    result.push_back({i, nullptr, nullptr});
  }
  return result;
}

TEST(TreapTest, IsEmptyAtFirstAndAfterTheLastLeaves) {
  Treap<Numbers> set;
  Number one{1, nullptr, nullptr};
  EXPECT_EQ(set.first(), nullptr);
  set.insert(&one);
  EXPECT_FALSE(set.is_empty());
  set.remove(&one);
  EXPECT_TRUE(set.is_empty());
  EXPECT_EQ(set.last(), nullptr);
}

TEST(TreapTest, WalksInOrder) {
  auto all = numbers(100);
  Treap<Numbers> set;
  for (int i = 0; i < 100; ++i) {
    set.insert(&all[static_cast<std::size_t>(i * 37 % 100)]);
  }
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(set.first_from(i)->value, i);
  }
  EXPECT_EQ(set.first_from(100), nullptr);
}

TEST(TreapTest, HasOneShapeWhateverTheOrder) {
  auto forward = numbers(300);
  auto backward = numbers(300);
  Treap<Numbers> a;
  Treap<Numbers> b;
  for (std::size_t i = 0; i < 300; ++i) {
    a.insert(&forward[i]);
    b.insert(&backward[299 - i]);
  }
  for (std::size_t i = 0; i < 300; i += 3) {
    a.remove(&forward[i]);
    b.remove(&backward[297 - i]);
  }
  const auto value = [](const Number* n) { return n ? n->value : -1; };
  for (std::size_t i = 0; i < 300; ++i) {
    if (i % 3 != 0) {
      EXPECT_EQ(value(forward[i].lower), value(backward[i].lower));
      EXPECT_EQ(value(forward[i].higher), value(backward[i].higher));
    }
  }
}

}  // namespace
}  // namespace neap::memory
