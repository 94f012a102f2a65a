// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/extent.hpp"

#include <gtest/gtest.h>

#include <map>
#include <utility>

#include "neap/memory/test_random.hpp"

namespace neap::memory {
namespace {

TEST(ExtentTreeTest, FindsTheBestFitAndOfEqualsTheLowest) {
  SystemPages pages;
  BookArray<Extent> extents(pages);
  ASSERT_TRUE(extents.reserve(5));
  ExtentTree tree{ExtentNodes(extents)};
  const std::uint32_t sizes[] = {0, 7, 3, 3, 9};
  for (ExtentId id = 4; id >= 1; --id) {
    extents[id].pages = sizes[id];
    extents[id].address = 4096U * id;
    tree.insert(id);
  }
  EXPECT_EQ(tree.first_from({2}), 2U);
  EXPECT_EQ(tree.first_from({4}), 1U);
  EXPECT_EQ(tree.last(), 4U);
  EXPECT_EQ(tree.first_from({10}), 0U);
}

TEST(ExtentTreeTest, AgreesWithASortedMapUnderRandomChanges) {
  constexpr ExtentId kCount = 300;
  SystemPages pages;
  BookArray<Extent> extents(pages);
  ASSERT_TRUE(extents.reserve(kCount + 1));
  ExtentTree tree{ExtentNodes(extents)};
  std::map<std::pair<std::uint32_t, std::uintptr_t>, ExtentId> model;
  TestRandom random(5);
  for (ExtentId id = 1; id <= kCount; ++id) {
    extents[id].pages = 1 + random() % 40;
    extents[id].address = id * std::uintptr_t{4096};
  }
  for (int step = 0; step < 30'000; ++step) {
    const ExtentId id = 1 + random() % kCount;
    const std::pair key(extents[id].pages, extents[id].address);
    if (model.erase(key) != 0) {
      tree.remove(id);
    } else {
      model.emplace(key, id);
      tree.insert(id);
    }
    const std::uint32_t wanted = 1 + random() % 45;
    const auto fit = model.lower_bound({wanted, 0});
    ASSERT_EQ(tree.first_from({wanted}), fit == model.end() ? 0 : fit->second);
    ASSERT_EQ(tree.first(), model.empty() ? 0 : model.begin()->second);
    ASSERT_EQ(tree.last(), model.empty() ? 0 : model.rbegin()->second);
  }
}

}  // namespace
}  // namespace neap::memory
