// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Truncation and padding beside what Hugging Face's library (tokenizers 0.23.3)
// makes of the same files.
#include "neap/text/length.hpp"

#include <gtest/gtest.h>

#include "neap/text/json_for_test.hpp"

namespace neap::text {
namespace {

constexpr EncodeOptions kAsTheFile{.truncate = true, .pad = true};
constexpr EncodeOptions kPlain{
    .add_special_tokens = false, .truncate = true, .pad = true};

// [3] in front of each text, and [4] behind it.
Tokenizer with(const std::string& members) {
  return parsed(json_of(bpe(), R"("post_processor": {"type": "BertProcessing",)"
                               R"( "sep": ["e", 4], "cls": ["d", 3]}, )" +
                                   members));
}

Row row(const Tokenizer& tokenizer, std::string_view text,
        const EncodeOptions& options) {
  const auto ids = tokenizer.encode(text, options);
  return Row(ids.begin(), ids.end());
}

std::string truncation(const std::string& more) {
  return R"("truncation": {"strategy": "LongestFirst", "stride": 0, )" + more +
         "}";
}

std::string padding(const std::string& more) {
  return R"("padding": {"pad_id": 9, "pad_type_id": 0, "pad_token": "u", )" +
         more + "}";
}

TEST(TruncationTest, CutsTheEndBeforeTheSpecialTokens) {
  const auto five = with(truncation(R"("max_length": 5)"));
  EXPECT_EQ(row(five, "abcbcbcd", kAsTheFile), (Row{3, 6, 1, 2, 4}));
  EXPECT_EQ(row(five, "abcbcbcd", kPlain), (Row{6, 1, 2, 1, 2}));
  EXPECT_EQ(row(five, "b", kAsTheFile), (Row{3, 1, 4}));
}

TEST(TruncationTest, CutsTheFrontWhereTheFileSaysSo) {
  const auto five = with(truncation(R"("max_length": 5, "direction": "Left")"));
  EXPECT_EQ(row(five, "abcbcbcd", kAsTheFile), (Row{3, 1, 2, 3, 4}));
  EXPECT_EQ(row(five, "abcbcbcd", kPlain), (Row{1, 2, 1, 2, 3}));
}

TEST(TruncationTest, MayLeaveTheSpecialTokensAlone) {
  const auto two = with(truncation(R"("max_length": 2)"));
  EXPECT_EQ(row(two, "abcbcbcd", kAsTheFile), (Row{3, 4}));
  EXPECT_EQ(row(two, "abcbcbcd", kPlain), (Row{6, 1}));
}

TEST(TruncationTest, NeedsRoomForTheSpecialTokens) {
  EXPECT_THROW(static_cast<void>(with(truncation(R"("max_length": 1)"))),
               tl::bad_expected_access<Failure>);
}

TEST(PaddingTest, FillsUpToAFixedLength) {
  const auto six =
      with(padding(R"("strategy": {"Fixed": 6}, "pad_to_multiple_of": null)"));
  EXPECT_EQ(row(six, "abcbcbcd", kAsTheFile), (Row{3, 6, 1, 2, 1, 2, 3, 4}));
  EXPECT_EQ(row(six, "b", kAsTheFile), (Row{3, 1, 4, 9, 9, 9}));
  EXPECT_EQ(row(six, "", kPlain), (Row{9, 9, 9, 9, 9, 9}));
}

TEST(PaddingTest, StandsInFrontWhereTheFileSaysSo) {
  const auto five =
      with(padding(R"("strategy": {"Fixed": 5}, "direction": "Left")"));
  EXPECT_EQ(row(five, "b", kAsTheFile), (Row{9, 9, 3, 1, 4}));
}

TEST(PaddingTest, FillsUpToAMultiple) {
  const auto four =
      with(padding(R"("strategy": "BatchLongest", "pad_to_multiple_of": 4)"));
  EXPECT_EQ(row(four, "abcbcbcd", kPlain), (Row{6, 1, 2, 1, 2, 3, 9, 9}));
  EXPECT_EQ(row(four, "", kPlain), (Row{}));
  const auto three =
      with(padding(R"("strategy": "BatchLongest", "pad_to_multiple_of": 3)"));
  EXPECT_EQ(row(three, "b", kPlain), (Row{1, 9, 9}));
  const auto none =
      with(padding(R"("strategy": "BatchLongest", "pad_to_multiple_of": 0)"));
  EXPECT_EQ(row(none, "b", kPlain), (Row{1}));
}

TEST(PaddingTest, FollowsTheTruncation) {
  const auto both =
      with(truncation(R"("max_length": 5)") + ", " +
           padding(R"("strategy": {"Fixed": 6}, "pad_to_multiple_of": 4)"));
  EXPECT_EQ(row(both, "abcbcbcd", kAsTheFile), (Row{3, 6, 1, 2, 4, 9, 9, 9}));
  EXPECT_EQ(row(both, "b", kPlain), (Row{1, 9, 9, 9, 9, 9, 9, 9}));
}

TEST(LengthTest, IsThatOfTheTextUnlessAsked) {
  const auto both = with(truncation(R"("max_length": 3)") + ", " +
                         padding(R"("strategy": {"Fixed": 12})"));
  EXPECT_EQ(row(both, "abcbcbcd", {}), (Row{3, 6, 1, 2, 1, 2, 3, 4}));
  EXPECT_EQ(row(both, "b", {}), (Row{3, 1, 4}));
}

}  // namespace
}  // namespace neap::text
