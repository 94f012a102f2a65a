// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/append.hpp"

#include <gtest/gtest.h>

#include <string>

namespace neap::base {
namespace {

TEST(AppendTest, AddsToWhatIsThere) {
  std::string text = "a";
  append(text, "{}-{:>3}", 1, "b");
  append(text, "");
  EXPECT_EQ(text, "a1-  b");
}

TEST(AppendTest, TakesTextsOfAnyLength) {
  for (const std::size_t size : {255U, 256U, 257U, 5000U}) {
    std::string text = "a";
    append(text, "{}", std::string(size, 'x'));
    EXPECT_EQ(text, "a" + std::string(size, 'x'));
  }
}

TEST(AppendTest, SaysHowLongTheWholeIs) {
  std::array<char, 4> room{};
  EXPECT_EQ(format_into(room, "{}", 1234567), 7U);
  EXPECT_EQ(std::string_view(room.data(), room.size()), "1234");
}

}  // namespace
}  // namespace neap::base
