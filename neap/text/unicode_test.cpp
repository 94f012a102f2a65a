// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/unicode.hpp"

#include <gtest/gtest.h>

#include <string>

namespace neap::text {
namespace {

std::string lossy(std::string_view bytes) {
  memory::String out;
  append_lossy(out, bytes);
  return std::string(out);
}

std::string form(std::string_view text, NormalForm form) {
  return std::string(normal_form(text, form));
}

const std::string kGone = "\xEF\xBF\xBD";

TEST(UnicodeTest, ReplacesTheLongestBeginningOfACharacter) {
  EXPECT_EQ(lossy("a\xFFz"), "a" + kGone + "z");
  EXPECT_EQ(lossy("\xE4\xB8"), kGone);
  EXPECT_EQ(lossy("\xE4\xB8 x"), kGone + " x");
  EXPECT_EQ(lossy("\xED\xA0\x80"), kGone + kGone + kGone);
  EXPECT_EQ(lossy("\xF0\x9F\x91\xF0\x9F\x91\xA9"), kGone + "\xF0\x9F\x91\xA9");
  EXPECT_EQ(lossy("\xC0\xAF"), kGone + kGone);
  EXPECT_EQ(lossy("\xF4\x90\x80\x80"), kGone + kGone + kGone + kGone);
}

TEST(UnicodeTest, HasFourNormalForms) {
  const std::string composed = "\xC3\xA9";      // U+00E9
  const std::string apart = "e\xCC\x81";        // e, U+0301
  const std::string ligature = "\xEF\xAC\x81";  // U+FB01
  EXPECT_EQ(form(composed, NormalForm::kNfd), apart);
  EXPECT_EQ(form(apart, NormalForm::kNfc), composed);
  EXPECT_EQ(form(ligature, NormalForm::kNfc), ligature);
  EXPECT_EQ(form(ligature, NormalForm::kNfkd), "fi");
  EXPECT_EQ(form(ligature + apart, NormalForm::kNfkc), "fi" + composed);
}

TEST(UnicodeTest, ComposesHangul) {
  const std::string jamo = "\xE1\x84\x80\xE1\x85\xA1\xE1\x86\xA8";
  EXPECT_EQ(form(jamo, NormalForm::kNfc), "\xEA\xB0\x81");
  EXPECT_EQ(form("\xEA\xB0\x81", NormalForm::kNfd), jamo);
}

TEST(UnicodeTest, OrdersMarksStably) {
  const std::string above = "\xCC\x81";  // U+0301, class 230
  const std::string grave = "\xCC\x80";  // U+0300, class 230
  const std::string below = "\xCC\x96";  // U+0316, class 220
  EXPECT_EQ(form("x" + above + grave + below, NormalForm::kNfd),
            "x" + below + above + grave);
}

TEST(UnicodeTest, OrdersAMegabyteOfMarksAtOnce) {
  std::string marks = "x";
  std::string ordered;
  for (int i = 0; i < 200'000; ++i) {
    marks += "\xCC\x81\xCC\x96";
  }
  const std::string out = form(marks, NormalForm::kNfd);
  EXPECT_EQ(out.size(), marks.size());
  EXPECT_EQ(out.substr(0, 5), "x\xCC\x96\xCC\x96");
}

TEST(UnicodeTest, LowersOneCharacterToTwo) {
  memory::String out;
  append_lower(out, 0x130);
  append_lower(out, U'A');
  append_lower(out, 0xC9);
  EXPECT_EQ(std::string(out),
            "i\xCC\x87"
            "a\xC3\xA9");
}

TEST(UnicodeTest, KnowsClassesOfCharacters) {
  EXPECT_TRUE(is_space(0x3000) && is_space(0x85) && !is_space(0x180E));
  EXPECT_TRUE(is_word(U'_') && is_word(0x301) && is_word(0x200D) &&
              is_word(0x24B6) && !is_word(0xB2) && !is_word(U'-'));
  EXPECT_TRUE(is_numeric(0xB2) && is_numeric(0x2167) && !is_numeric(U'a'));
  EXPECT_TRUE(is_punctuation(U'$') && is_punctuation(0x3001) &&
              !is_punctuation(0x20AC));
  EXPECT_TRUE(is_control(0) && is_control(0x200B) && is_control(0xE000) &&
              !is_control(0x10FFFE));
}

}  // namespace
}  // namespace neap::text
