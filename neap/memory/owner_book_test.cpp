// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/owner_book.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace neap::memory {
namespace {

OwnerId intern(OwnerBook& book, std::string_view path) {
  OwnerId owner;
  EXPECT_TRUE(book.intern(path, owner));
  return owner;
}

TEST(OwnerBookTest, HasOneNumberForOnePath) {
  SystemPages pages;
  OwnerBook book(pages);
  const OwnerId first = intern(book, "fc1.weight");
  EXPECT_EQ(intern(book, "fc1.weight"), first);
  EXPECT_NE(intern(book, "fc1.bias"), first);
  EXPECT_EQ(intern(book, ""), OwnerId{});
}

TEST(OwnerBookTest, KeepsTextsInPlaceWhileItGrows) {
  SystemPages pages;
  OwnerBook book(pages);
  const OwnerId first = intern(book, "first");
  const std::string_view text = book.path_of(first);
  for (int i = 0; i < 5000; ++i) {
    intern(book, "layer" + std::to_string(i) + ".weight");
  }
  EXPECT_EQ(text, "first");
  EXPECT_EQ(book.path_of(first).data(), text.data());
  EXPECT_EQ(book.path_of(intern(book, "layer4321.weight")), "layer4321.weight");
}

TEST(OwnerBookTest, TakesExactlyWhatItSaidBeforehand) {
  SystemPages pages;
  {
    OwnerBook book(pages);
    for (int i = 0; i < 3000; ++i) {
      const std::string path(static_cast<std::size_t>(1 + i * 7 % 9000), 'a');
      const Bytes expected = pages.held() + book.growth_for(path);
      intern(book, path);
      ASSERT_EQ(pages.held(), expected);
      ASSERT_EQ(book.growth_for(path), 0);
    }
  }
  EXPECT_EQ(pages.held(), 0);
}

// A header of 24 bytes, then texts without gaps.
TEST(OwnerBookTest, FillsItsChunksToTheLastByteAndDoublesThem) {
  SystemPages pages;
  OwnerBook book(pages);
  intern(book, "a");
  const Bytes before = pages.held();
  intern(book,
         std::string(static_cast<std::size_t>(page_bytes()) - 24 - 1, 'b'));
  EXPECT_EQ(pages.held(), before);
  std::vector<Bytes> grown;
  for (int i = 0; i < 400; ++i) {
    const std::string path = std::to_string(i) + std::string(1000, 'c');
    const Bytes growth = book.growth_for(path);
    if (growth > 0) {
      grown.push_back(growth);
    }
    intern(book, path);
  }
  EXPECT_EQ(grown[0], 2 * page_bytes());
  EXPECT_EQ(grown[1], 4 * page_bytes());
  EXPECT_EQ(grown[2], 8 * page_bytes());
}

TEST(OwnerBookTest, HasRoomForAPathAndItsChunksHeader) {
  SystemPages pages;
  OwnerBook book(pages);
  intern(book, "a");
  const std::string longest(static_cast<std::size_t>(page_bytes()) - 24, 'b');
  const std::string longer = longest + "b";
  EXPECT_EQ(book.growth_for(longest + std::string(8 * page_bytes(), 'b')),
            9 * page_bytes());
  EXPECT_EQ(book.growth_for(longer + std::string(8 * page_bytes(), 'b')),
            10 * page_bytes());
  const OwnerId owner =
      intern(book, longer + std::string(8 * page_bytes(), 'b'));
  EXPECT_EQ(book.path_of(owner).size(), longer.size() + 8 * page_bytes());
}

TEST(OwnerBookTest, FoldsPathsBeyondItsBoundIntoTheEmptyOne) {
  SystemPages pages;
  OwnerBook book(pages);
  for (std::uint32_t i = 0; i < kMaxOwners + 10; ++i) {
    intern(book, std::to_string(i));
  }
  EXPECT_EQ(intern(book, "one too many"), OwnerId{});
  EXPECT_EQ(book.path_of(intern(book, "7")), "7");
}

TEST(OwnerBookTest, ListsTheLargestHoldersFirst) {
  SystemPages pages;
  OwnerBook book(pages);
  const OwnerId a = intern(book, "a");
  const OwnerId b = intern(book, "b");
  book.add({.category = Category::kGradients, .owner = a, .site = {}}, 10);
  book.add({.category = Category::kGradients, .owner = b, .site = {}}, 30);
  book.add({.category = Category::kData, .owner = b, .site = {}}, 20);
  book.add({.category = Category::kData, .owner = {}, .site = {}}, 5);
  std::array<OutOfMemory::Holder, 3> largest;
  book.largest(largest);
  EXPECT_EQ(largest[0].bytes, 30);
  EXPECT_STREQ(largest[0].owner.data(), "b");
  EXPECT_EQ(largest[1].bytes, 20);
  EXPECT_EQ(largest[1].category, Category::kData);
  EXPECT_EQ(largest[2].bytes, 10);
  EXPECT_STREQ(largest[2].owner.data(), "a");
}

TEST(OwnerBookTest, ListsNoHolderOfNothing) {
  SystemPages pages;
  OwnerBook book(pages);
  const OwnerId a = intern(book, "a");
  intern(book, "b");
  book.add({.category = Category::kData, .owner = a, .site = {}}, 10);
  book.add({.category = Category::kGradients, .owner = a, .site = {}}, 1);
  std::array<OutOfMemory::Holder, 3> largest;
  book.largest(largest);
  EXPECT_EQ(largest[0].bytes, 10);
  EXPECT_EQ(largest[1].bytes, 1);
  EXPECT_STREQ(largest[2].owner.data(), "");
}

TEST(OwnerBookTest, CutsLongPathsToFit) {
  std::array<char, 64> text{};
  copy_path(std::string(100, 'x'), text);
  EXPECT_EQ(std::string(text.data()), std::string(63, 'x'));
}

}  // namespace
}  // namespace neap::memory
