// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/system_pages.hpp"

#include <gtest/gtest.h>

namespace neap::memory {
namespace {

bool is_aligned(const void* pages, Bytes alignment) {
  return reinterpret_cast<std::uintptr_t>(pages) %
             static_cast<std::uintptr_t>(alignment) ==
         0;
}

TEST(SystemPagesTest, HoldsExactlyWhatWasMapped) {
  SystemPages pages;
  void* a = pages.map(3 * page_bytes());
  EXPECT_EQ(pages.held(), 3 * page_bytes());
  EXPECT_TRUE(pages.unmap(a, 3 * page_bytes()));
  EXPECT_EQ(pages.held(), 0);
  EXPECT_EQ(pages.calls(), 2);
}

TEST(SystemPagesTest, AlignsWithoutHoldingMore) {
  SystemPages pages;
  // Pages of odd sizes in between keep the next place from being aligned.
  for (int i = 0; i < 20; ++i) {
    ASSERT_NE(pages.map(page_bytes()), nullptr);
    const Bytes before = pages.held();
    void* aligned = pages.map(32 * kKiB, 32 * kKiB);
    ASSERT_TRUE(is_aligned(aligned, 32 * kKiB));
    EXPECT_EQ(pages.held(), before + 32 * kKiB);
  }
}

TEST(SystemPagesTest, AlignsLargeMappingsToHugePages) {
  SystemPages pages;
  void* dense = pages.map_huge(5 * kMiB);
  EXPECT_TRUE(is_aligned(dense, kHugePage));
  EXPECT_EQ(pages.held(), 5 * kMiB);
  pages.unmap(dense, 5 * kMiB);
  // A single mapping, the advice and the unmapping make three calls; each
  // further try is an unmapping and a mapping.
  EXPECT_EQ(pages.calls() % 2, 1);
}

TEST(SystemPagesTest, GrowsKeepingContentsAndZeroingTheRest) {
  SystemPages pages;
  auto* bytes = static_cast<unsigned char*>(pages.map(page_bytes()));
  bytes[page_bytes() - 1] = 7;
  bytes = static_cast<unsigned char*>(
      pages.grow(bytes, page_bytes(), 4 * page_bytes()));
  EXPECT_EQ(bytes[page_bytes() - 1], 7);
  EXPECT_EQ(bytes[4 * page_bytes() - 1], 0);
  EXPECT_EQ(pages.held(), 4 * page_bytes());
  pages.unmap(bytes, 4 * page_bytes());
}

TEST(SystemPagesTest, RefusesWhatTheSystemRefuses) {
  SystemPages pages;
  EXPECT_EQ(pages.map(Bytes{1} << 50U), nullptr);
  EXPECT_EQ(pages.held(), 0);
}

}  // namespace
}  // namespace neap::memory
