// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <chrono>

#include "neap/text/json_for_test.hpp"

namespace neap::text {
namespace {

TEST(BpeTest, MergesTheLowestRankFirst) {
  const Tokenizer tokenizer = parsed(json_of(bpe()));
  EXPECT_EQ(encoded(tokenizer, "abcd"), (Row{6, 3}));
  const Tokenizer other =
      parsed(json_of(bpe("", R"("c d", "a b", "ab c", "b c")")));
  EXPECT_EQ(encoded(other, "abcd"), (Row{5, 7}));
}

TEST(BpeTest, MergesTheLeftmostOfEqualRanks) {
  const std::string model =
      R"({"type": "BPE", "vocab": {"a": 0, "aa": 1}, "merges": ["a a"]})";
  const Tokenizer tokenizer = parsed(json_of(model));
  EXPECT_EQ(encoded(tokenizer, "aaaaa"), (Row{1, 1, 0}));
}

TEST(BpeTest, TakesTheLaterOfMergesGivenTwice) {
  const Tokenizer tokenizer =
      parsed(json_of(bpe("", R"("a b", "b c", "a b")")));
  EXPECT_EQ(encoded(tokenizer, "abc"), (Row{0, 8}));
}

TEST(BpeTest, ReadsMergesAsTextsAndAsPairs) {
  const Tokenizer tokenizer =
      parsed(json_of(bpe("", R"("#version: 0.2", ["a", "b"], "ab c")")));
  EXPECT_EQ(encoded(tokenizer, "abc"), (Row{6}));
}

TEST(BpeTest, TakesWholeWordsWhereMergesAreIgnored) {
  const std::string only_ab = R"("a b")";
  EXPECT_EQ(encoded(parsed(json_of(bpe("", only_ab))), "cd"), (Row{2, 3}));
  const Tokenizer tokenizer =
      parsed(json_of(bpe(R"("ignore_merges": true)", only_ab)));
  EXPECT_EQ(encoded(tokenizer, "cd"), (Row{7}));
  EXPECT_EQ(encoded(tokenizer, "cdd"), (Row{2, 3, 3}));
}

TEST(BpeTest, DropsUnknownCharactersWithoutATokenForThem) {
  EXPECT_EQ(encoded(parsed(json_of(bpe())), "axxb"), (Row{5}));
}

TEST(BpeTest, FusesUnknownCharactersWhereAsked) {
  const Tokenizer apart = parsed(json_of(bpe(R"("unk_token": "u")")));
  EXPECT_EQ(encoded(apart, "axxb"), (Row{0, 9, 9, 1}));
  const Tokenizer fused =
      parsed(json_of(bpe(R"("unk_token": "u", "fuse_unk": true)")));
  EXPECT_EQ(encoded(fused, "axxbx"), (Row{0, 9, 1, 9}));
}

TEST(BpeTest, FallsBackToBytesWhereAllHaveTokens) {
  const std::string model =
      R"({"type": "BPE", "byte_fallback": true, "unk_token": "u", "vocab":)"
      R"( {"u": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3}, "merges": []})";
  const Tokenizer tokenizer = parsed(json_of(model));
  EXPECT_EQ(encoded(tokenizer, "a\xC3\xA9"), (Row{1, 2, 3}));
  EXPECT_EQ(encoded(tokenizer, "a\xC3\xA8"), (Row{1, 0}));
}

TEST(BpeTest, HasPrefixesAndSuffixes) {
  const std::string model =
      R"({"type": "BPE", "continuing_subword_prefix": "_",)"
      R"( "end_of_word_suffix": "$", "vocab": {"a": 0, "_a": 1, "_a$": 2,)"
      R"( "aa": 3, "a$": 4}, "merges": ["a _a"]})";
  const Tokenizer tokenizer = parsed(json_of(model));
  EXPECT_EQ(encoded(tokenizer, "aaa"), (Row{3, 2}));
  EXPECT_EQ(encoded(tokenizer, "a"), (Row{4}));
}

TEST(BpeTest, IsFastOnAWordOfAMegabyte) {
  const std::string model =
      R"({"type": "BPE", "vocab": {"a": 0, "aa": 1, "aaaa": 2},)"
      R"( "merges": ["a a", "aa aa"]})";
  const Tokenizer tokenizer = parsed(json_of(model));
  const std::string word(1 << 20, 'a');
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(encoded(tokenizer, word), Row(word.size() / 4, 2));
  // A way that is quadratic takes hours; sanitizers take seconds.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
}

}  // namespace
}  // namespace neap::text
