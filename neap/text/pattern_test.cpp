// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/pattern.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "neap/text/byte_level.hpp"
#include "neap/text/refused.hpp"

namespace neap::text {
namespace {

using testing::ElementsAre;

std::vector<std::string> matches(std::string_view regex,
                                 std::string_view text) {
  const Pattern pattern = Pattern::of_regex(regex);
  Search search(pattern);
  search.start(text);
  std::vector<std::string> found;
  for (Match match; search.next(match);) {
    found.emplace_back(text.substr(match.begin, match.end - match.begin));
  }
  return found;
}

TEST(PatternTest, SplitsWordsAsGpt2Does) {
  EXPECT_THAT(matches(kByteLevelPattern, "I'll go  42 \n"),
              ElementsAre("I", "'ll", " go", " ", " 42", " \n"));
}

TEST(PatternTest, TakesWhiteSpaceOfUnicodeAlone) {
  EXPECT_THAT(matches(R"(\s)", "\xE3\x80\x80\xE1\xA0\x8E\xC2\x85"),
              ElementsAre("\xE3\x80\x80", "\xC2\x85"));
  EXPECT_THAT(matches(R"([^\S\n]+)", "a \t\n\xE1\xA0\x8E"), ElementsAre(" \t"));
}

TEST(PatternTest, TakesMarksForPartsOfWords) {
  EXPECT_THAT(matches(R"(\w+)", "e\xCC\x81x-\xE2\x80\x8D\xC2\xB2"),
              ElementsAre("e\xCC\x81x", "\xC2\xB2"));
  EXPECT_THAT(matches(R"(\be\w)", "he ex"), ElementsAre("ex"));
  EXPECT_THAT(matches(R"(\Be)", "he ex"), ElementsAre("e"));
}

TEST(PatternTest, TakesAScriptForItselfAlone) {
  // U+30FC belongs to Hiragana and Katakana by extension.
  EXPECT_THAT(matches(R"(\p{Hiragana}+)", "\xE3\x81\x82\xE3\x83\xBC"),
              ElementsAre("\xE3\x81\x82"));
}

TEST(PatternTest, ReadsNumbersAndIntervals) {
  EXPECT_THAT(matches(R"([\u0041-\x43]{,2})", "ABCx"),
              ElementsAre("AB", "C", ""));
  EXPECT_THAT(matches(R"(a{1,2}?b{)", "aab{"), ElementsAre("aab{"));
}

TEST(PatternTest, LeavesOutAnEmptyMatchBehindAnother) {
  EXPECT_THAT(matches("a*", "baac"), ElementsAre("", "aa", ""));
}

TEST(PatternTest, MatchesATextThatIsNoPattern) {
  const Pattern pattern = Pattern::of_literal("a.b|");
  Search search(pattern);
  Match match;
  search.start("axb|a.b|");
  EXPECT_TRUE(search.next(match));
  EXPECT_EQ(match.begin, 4);
  EXPECT_FALSE(search.next(match));
}

TEST(PatternTest, RefusesWhatWouldMeanAnotherThing) {
  for (const char* regex : {"",
                            "(",
                            "a)",
                            "[a",
                            "[]a]",
                            "[a[b]]",
                            "[a&&b]",
                            R"(\h)",
                            R"(\R)",
                            R"(\X)",
                            R"(\K)",
                            R"((a)\1)",
                            R"(\k<n>)",
                            "(?<n>a)",
                            "(?m:a)",
                            "a(?i)b",
                            "(?#x)",
                            "(?R)",
                            "(*ACCEPT)",
                            "a{2}+",
                            "a{2}?",
                            R"(\p{Nonsense})",
                            R"(\p{L)",
                            R"([\W])",
                            R"([\s-a])",
                            "\\",
                            R"(\x{110000})",
                            R"(\C)",
                            R"(\Qa\E)"}) {
    EXPECT_THROW(Pattern::of_regex(regex), Refused) << regex;
  }
}

TEST(PatternTest, GivesUpOnWhatNeverEnds) {
  const std::string text(4000, 'a');
  EXPECT_THROW(matches("(a|a)*(a|a)*[bd]", text), ValueError);
}

TEST(PatternTest, KeepsOnesOwnMemoryAtTheDoor) {
  const Bytes before = memory::domain().stats().live;
  const Pattern pattern = Pattern::of_regex(R"(\p{L}+)");
  EXPECT_GT(memory::domain().stats().live, before);
}

}  // namespace
}  // namespace neap::text
