// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/shown.hpp"

#include <gtest/gtest.h>

#include <array>

namespace neap::base {
namespace {

TEST(ShownTest, APlainTextIsShownAsItIs) {
  EXPECT_EQ(shown("sepal width (cm)"), "sepal width (cm)");
  EXPECT_EQ(shown("Gr\xC3\xB6\xC3\x9F"
                  "e \xE2\x82\xAC \xF0\x9F\x8C\x8A"),
            "Gr\xC3\xB6\xC3\x9F"
            "e \xE2\x82\xAC \xF0\x9F\x8C\x8A");
  EXPECT_EQ(shown(""), "");
}

TEST(ShownTest, ControlCharactersAreEscaped) {
  EXPECT_EQ(shown("a\nb\r\tc"), "a\\nb\\r\\tc");
  EXPECT_EQ(shown("\x1B[2J\x7F"), "\\x1b[2J\\x7f");
  EXPECT_EQ(shown(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(shown("\xC2\x9B"
                  "31m"),
            "\\u009b31m");  // CSI of C1
  EXPECT_EQ(shown("a\xE2\x80\xAE"
                  "b"),
            "a\\u202eb");  // right to left
  EXPECT_EQ(shown("a\xE2\x80\xA8"
                  "b"),
            "a\\u2028b");  // a line's end
}

TEST(ShownTest, BytesThatAreNotUtf8AreEscaped) {
  EXPECT_EQ(shown("\xFF"
                  "a\xC3"),
            "\\xffa\\xc3");
  EXPECT_EQ(shown("\xC0\xAF\xED\xA0\x80"), "\\xc0\\xaf\\xed\\xa0\\x80");
}

TEST(ShownTest, ALongTextIsCutAtEightyCharacters) {
  EXPECT_EQ(shown(std::string(80, 'x')), std::string(80, 'x'));
  EXPECT_EQ(shown(std::string(81, 'x')), std::string(80, 'x') + "...");
  EXPECT_EQ(shown(std::string(500'000, '\n')).size(), 83U);
  EXPECT_EQ(shown("abcdef", 3), "abc...");
  EXPECT_EQ(shown("ab\n", 3), "ab...");  // an escape is whole or not there
}

TEST(ShownTest, APathKeepsItsEnd) {
  EXPECT_EQ(shown_path("/data/x.csv"), "/data/x.csv");
  const std::string path = std::string(300, 'd') + "/x.csv";
  EXPECT_EQ(shown_path(path), "..." + std::string(74, 'd') + "/x.csv");
  EXPECT_EQ(shown_path("a\n\x1B"
                       "b"),
            "a\\n\\x1bb");
  std::array<char, 10> buffer{};
  show_path(path, buffer);
  EXPECT_STREQ(buffer.data(), ".../x.csv");
  show_path("1.csv", buffer);
  EXPECT_STREQ(buffer.data(), "1.csv");
  show_path("\n\n\n\n\n", buffer);
  EXPECT_STREQ(buffer.data(), "...\\n\\n\\n");
}

TEST(ShownTest, AMessageIsOneLineOfShortWords) {
  EXPECT_EQ(shown_message("--steps: a\x1B[1m\n"), "--steps: a\\x1b[1m\\n");
  EXPECT_EQ(shown_message("no " + std::string(200, 'y') + " here"),
            "no " + std::string(80, 'y') + "... here");
  const std::string many = shown_message([] {
    std::string text;
    for (int i = 0; i < 100'000; ++i) {
      text += "word ";
    }
    return text;
  }());
  EXPECT_EQ(many.size(), kMostOfMessage + 3);
}

}  // namespace
}  // namespace neap::base
