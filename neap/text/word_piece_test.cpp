// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "neap/text/json_for_test.hpp"

namespace neap::text {
namespace {

Tokenizer pieces(const std::string& more = {}) {
  return parsed(json_of(
      R"({"type": "WordPiece", "unk_token": "[UNK]", "vocab": {"[UNK]": 0,)"
      R"( "un": 1, "##aff": 2, "##able": 3, "una": 4, "##ff": 5,)"
      "\"##\xC3\xA9\": 6}" +
          more + "}",
      R"("pre_tokenizer": {"type": "BertPreTokenizer"}, "decoder":)"
      R"( {"type": "WordPiece", "prefix": "##", "cleanup": true})"));
}

TEST(WordPieceTest, TakesTheLongestFromTheLeft) {
  EXPECT_EQ(encoded(pieces(), "unaffable un"), (Row{4, 5, 3, 1}));
}

TEST(WordPieceTest, CallsAWordUnknownAsAWhole) {
  EXPECT_EQ(encoded(pieces(), "unx un"), (Row{0, 1}));
}

TEST(WordPieceTest, CutsBetweenCharacters) {
  EXPECT_EQ(encoded(pieces(), "un\xC3\xA9"), (Row{1, 6}));
  EXPECT_EQ(encoded(pieces(), "un\xC3\xA8"), (Row{0}));
}

TEST(WordPieceTest, BoundsTheCharactersOfAWord) {
  const Tokenizer tokenizer = pieces(R"(, "max_input_chars_per_word": 3)");
  EXPECT_EQ(encoded(tokenizer, "un\xC3\xA9"), (Row{1, 6}));
  EXPECT_EQ(encoded(tokenizer, "unaff"), (Row{0}));
}

TEST(WordPieceTest, IsDecodedWithSpacesBetweenWords) {
  const Row ids = {4, 5, 3, 1};
  EXPECT_EQ(std::string(pieces().decode(ids)), "unaffable un");
}

}  // namespace
}  // namespace neap::text
