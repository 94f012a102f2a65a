// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/wording.hpp"

#include <gtest/gtest.h>

namespace neap::report {
namespace {

template <class Append>
std::string text_by(Append append, std::string_view text) {
  memory::String out;
  append(out, text);
  return std::string(out);
}

TEST(WordingTest, KeepsCharactersOfAllLengths) {
  constexpr std::string_view kText = "a \xC3\xA9 \xE2\x82\xAC \xF0\x9F\x98\x80";
  EXPECT_EQ(text_by(append_utf8, kText), kText);
}

TEST(WordingTest, ReplacesEachByteThatIsNoUtf8) {
  EXPECT_EQ(text_by(append_utf8, "a\xFFz"), "a\xEF\xBF\xBDz");
  for (const std::string_view wrong :
       {"\xC0\x80", "\xED\xA0\x80", "\xE0\x80\x80", "\xF4\x90\x80\x80",
        "\xF0\x80\x80\x80", "\xE2\x82", "\x80", "\xEF\xBF\xBE"}) {
    std::string expected;
    for (std::size_t i = 0; i < wrong.size(); ++i) {
      expected += "\xEF\xBF\xBD";
    }
    EXPECT_EQ(text_by(append_utf8, wrong), expected);
  }
}

TEST(WordingTest, EscapesQuotesAndControlsInJson) {
  EXPECT_EQ(text_by(append_json, "a\"b\\\n\xFF"),
            "\"a\\\"b\\\\\\u000a\xEF\xBF\xBD\"");
}

TEST(WordingTest, LeavesNoMarkupInXml) {
  EXPECT_EQ(text_by(append_xml, "</a> \"&'\n\x01"),
            "&lt;/a&gt; &quot;&amp;&#39;  ");
}

TEST(WordingTest, LeavesNoMarkupInMarkdown) {
  EXPECT_EQ(text_by(append_markdown, "a|b\n<b> [x](http://y) *z* \"@me"),
            "a\\|b &lt;b&gt; \\[x\\](http\\://y) \\*z\\* \"&#64;me");
}

TEST(WordingTest, KeepsAFrameInItsPlace) {
  EXPECT_EQ(text_by(append_frame, "a;b\nc"), "a,b c");
  EXPECT_EQ(text_by(append_frame, ""), "(none)");
}

TEST(WordingTest, CutsTheMiddleOfLongNames) {
  EXPECT_EQ(fit_name("short", 5), "short");
  EXPECT_EQ(fit_name("0123456789abcdef", 11), "0123...cdef");
  EXPECT_EQ(fit_name("\x1b[31m", 20), "\\x1b[31m");
}

TEST(WordingTest, CutsNoCharacterInTwo) {
  const memory::String cut =
      fit_name("\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9\xC3\xA9", 8);
  EXPECT_EQ(cut, "\xC3\xA9...\xC3\xA9");
}

TEST(WordingTest, GivesChangesASign) {
  EXPECT_EQ(signed_grouped(2097152), "+2 097 152");
  EXPECT_EQ(signed_grouped(-64), "-64");
  EXPECT_EQ(signed_grouped(0), "0");
  EXPECT_EQ(signed_short(2097152), "+2.0 MiB");
  EXPECT_EQ(signed_short(-2048), "-2.0 KiB");
}

}  // namespace
}  // namespace neap::report
