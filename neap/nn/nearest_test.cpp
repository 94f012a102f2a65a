// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/nearest.hpp"

#include <gtest/gtest.h>

namespace neap::nn {
namespace {

TEST(NearestTest, CountsInsertionsRemovalsAndReplacements) {
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3);
  EXPECT_EQ(edit_distance("", "abc"), 3);
  EXPECT_EQ(edit_distance("abc", ""), 3);
  EXPECT_EQ(edit_distance("fc1.weight", "fc1.weight"), 0);
}

TEST(NearestTest, ListsTheThreeNearestNearestFirst) {
  const memory::Vector<memory::String> names = {"fc1.bias", "fc2.weight",
                                                "fc1.weight", "conv.kernel"};
  EXPECT_EQ(nearest_names("fc1.wieght", names),
            "\"fc1.weight\", \"fc2.weight\", \"fc1.bias\"");
}

TEST(NearestTest, ListsEarlierNamesFirstWhereEquallyNear) {
  const memory::Vector<memory::String> names = {"b", "a"};
  EXPECT_EQ(nearest_names("c", names), "\"b\", \"a\"");
}

}  // namespace
}  // namespace neap::nn
