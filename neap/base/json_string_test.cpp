// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/json_string.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <vector>

namespace neap::base {
namespace {

TEST(JsonStringTest, EscapesWhatJsonHasToEscape) {
  std::string out;
  append_json_string(out, std::string_view("a\"b\\c\n\x1f\0/", 9));
  EXPECT_EQ(out, R"("a\"b\\c\u000a\u001f\u0000/")");
}

TEST(JsonStringTest, WritesBytesAboveAsciiAsTheyAreAndToBytesToo) {
  std::vector<std::byte> out;
  append_json_string(out, "\xc3\xa9");
  EXPECT_EQ(out, (std::vector{std::byte{'"'}, std::byte{0xc3}, std::byte{0xa9},
                              std::byte{'"'}}));
}

}  // namespace
}  // namespace neap::base
