// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/vocabulary.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "neap/base/error.hpp"
#include "neap/data/utf8.hpp"

namespace neap::data {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Utf8Test, GoesThereAndBackForEveryCodePoint) {
  for (char32_t point = 0; point <= kLastCodePoint; ++point) {
    if (point >= 0xD800 && point < 0xE000) {
      continue;  // surrogates
    }
    std::string text;
    append_utf8(text, point);
    const Decoded decoded = decode_utf8(text);
    ASSERT_EQ(decoded.code_point, point);
    ASSERT_EQ(decoded.length, static_cast<int>(text.size()));
    text.pop_back();
    if (!text.empty()) {
      ASSERT_EQ(decode_utf8(text).length, 0);
    }
  }
}

TEST(Utf8Test, RefusesWhatIsNone) {
  for (const char* text :
       {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2\x20", "\xE0\x9F\x80",
        "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\x80\x80", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF", "\xE2\x82\x20", "\xF0\x9F\x98\xC0"}) {
    EXPECT_EQ(decode_utf8(text).length, -1) << text;
  }
}

Vocabulary of(std::string_view text) {
  return Vocabulary::of_characters(text).value();
}

TEST(VocabularyTest, NumbersCharactersInAscendingOrder) {
  const Vocabulary vocabulary = of("banana \xC3\xA9!");
  EXPECT_EQ(vocabulary.size(), 6);
  EXPECT_EQ(vocabulary.characters(), " !abn\xC3\xA9");
  EXPECT_THAT(vocabulary.encode("\xC3\xA9 nab").value(),
              ElementsAre(5, 0, 4, 2, 3));
  EXPECT_EQ(vocabulary.decode(std::vector<std::int64_t>{5, 0, 4, 2, 3}),
            "\xC3\xA9 nab");
}

TEST(VocabularyTest, IsTheSameForTheSameCharactersInAnyOrder) {
  EXPECT_EQ(of("cabba"), of("abc"));
  EXPECT_NE(of("abc"), of("abd"));
  EXPECT_NE(of("abc"), Vocabulary());
  const Vocabulary once = of("z\xF0\x9F\x98\x80y");
  EXPECT_EQ(of(std::string_view(once.characters())), once);
}

TEST(VocabularyTest, OfBytesHoldsAnyText) {
  const Vocabulary bytes;
  EXPECT_EQ(bytes.size(), 256);
  EXPECT_EQ(bytes.symbols(), Symbols::kBytes);
  const std::string text("a\xFF\0\x80", 4);
  const auto tokens = bytes.encode(text).value();
  EXPECT_THAT(tokens, ElementsAre(97, 255, 0, 128));
  EXPECT_EQ(std::string_view(bytes.decode(tokens)), text);
}

TEST(VocabularyTest, NamesTheCharacterThatItHasNot) {
  const auto tokens = of("abc").encode(
      "ab\xE2\x82\xAC"
      "c");
  ASSERT_FALSE(tokens.has_value());
  EXPECT_EQ(tokens.error().kind, FailureKind::kMismatch);
  EXPECT_THAT(tokens.error().message, HasSubstr("U+20AC at number 2"));
}

TEST(VocabularyTest, RefusesWhatIsNotUtf8) {
  const auto made = Vocabulary::of_characters("abc\xFF");
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().kind, FailureKind::kCorrupt);
  EXPECT_THAT(made.error().message, HasSubstr("at byte 3"));
  EXPECT_FALSE(of("abc").encode("a\xC3").has_value());
}

TEST(VocabularyTest, RefusesTokensThatItHasNot) {
  const Vocabulary vocabulary = of("abc");
  for (const std::int64_t token : {-1, 3}) {
    EXPECT_THROW(static_cast<void>(vocabulary.decode(std::span(&token, 1))),
                 ValueError);
  }
}

TEST(VocabularyTest, RefusesMoreCharactersThanATokenTells) {
  std::string text;
  for (char32_t point = 0x10000; point <= 0x10000 + 65'536; ++point) {
    append_utf8(text, point);
  }
  EXPECT_EQ(Vocabulary::of_characters(text).error().kind,
            FailureKind::kUnsupported);
  text.resize(text.size() - 4);
  EXPECT_EQ(of(text).size(), 65'536);
}

TEST(VocabularyTest, RefusesCodePointsOutOfOrder) {
  EXPECT_THROW(Vocabulary::of_sorted({U'b', U'a'}), ValueError);
  EXPECT_THROW(Vocabulary::of_sorted({U'a', U'a'}), ValueError);
}

}  // namespace
}  // namespace neap::data
