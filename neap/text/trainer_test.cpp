// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/trainer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "neap/base/error.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/files/whole_file.hpp"
#include "neap/text/json_for_test.hpp"

namespace neap::text {
namespace {

using testing::HasSubstr;

Tokenizer trained(std::string_view text, const TrainOptions& options) {
  BpeTrainer trainer(options);
  trainer.add(text).value();
  return parsed(std::string(trainer.train()));
}

TEST(BpeTrainerTest, MergesTheMostFrequentPairFirst) {
  // Pairs: "lo" 3, "ow" 2, "ot" 1.
  const Tokenizer tokenizer = trained("low\nlow\nlot", {.vocab_size = 258});
  EXPECT_EQ(tokenizer.vocab_size(), 258);
  EXPECT_EQ(tokenizer.token_of(256), "lo");
  EXPECT_EQ(tokenizer.token_of(257), "low");
}

TEST(BpeTrainerTest, TakesTheLowestIdsOfEqualPairs) {
  const Tokenizer tokenizer = trained("ba\ndc\nca", {.vocab_size = 259});
  EXPECT_EQ(tokenizer.token_of(256), "ba");
  EXPECT_EQ(tokenizer.token_of(257), "ca");
  EXPECT_EQ(tokenizer.token_of(258), "dc");
}

TEST(BpeTrainerTest, StopsWhereNothingIsLeftOrTooRare) {
  EXPECT_EQ(trained("ab ab", {.vocab_size = 1000}).vocab_size(), 258);
  const TrainOptions rare{.vocab_size = 1000, .min_frequency = 3};
  EXPECT_EQ(trained("ab ab", rare).vocab_size(), 256);
  EXPECT_EQ(trained("", {.vocab_size = 5}).vocab_size(), 256);
}

TEST(BpeTrainerTest, MergesARunWithoutOverlap) {
  const Tokenizer tokenizer = trained("aaaaa", {.vocab_size = 258});
  EXPECT_EQ(tokenizer.token_of(256), "aa");
  EXPECT_EQ(tokenizer.token_of(257), "aaa");
}

TEST(BpeTrainerTest, GivesSpecialTokensTheFirstIds) {
  const std::vector<std::string> special = {"<s>", "\"\n", "<s>"};
  const Tokenizer tokenizer =
      trained("x", {.vocab_size = 300, .special_tokens = special});
  EXPECT_EQ(tokenizer.id_of("<s>"), 0);
  EXPECT_EQ(tokenizer.id_of("\"\n"), 1);
  EXPECT_TRUE(tokenizer.is_special(1));
  EXPECT_EQ(encoded(tokenizer, "<s>x").front(), 0);
}

TEST(BpeTrainerTest, DecodesWhatItEncodes) {
  const Tokenizer tokenizer =
      trained("the tide was low\nthe tide was high\n", {.vocab_size = 280});
  const std::string text = "the tide \xF0\x9F\x8C\x8A\n was";
  EXPECT_EQ(std::string(tokenizer.decode(tokenizer.encode(text))), text);
}

TEST(BpeTrainerTest, LearnsTheSameFromAFile) {
  const files::TemporaryFolder folder;
  const std::string path = folder.path() + "/text";
  std::string text;
  for (int i = 0; i < 30'000; ++i) {  // more than a part of a file
    text += "line " + std::to_string(i % 97) + " of many\n";
  }
  text += "no end";
  files::write_atomically(files::system_door(), path, [&](files::File& file) {
    return files::write_all(file, std::as_bytes(std::span(text)));
  }).value();
  BpeTrainer of_file({.vocab_size = 300});
  of_file.add_file(path).value();
  BpeTrainer of_text({.vocab_size = 300});
  of_text.add(text).value();
  EXPECT_EQ(of_file.word_count(), of_text.word_count());
  EXPECT_EQ(of_file.train(), of_text.train());
}

TEST(BpeTrainerTest, RefusesWhatIsNotUtf8) {
  BpeTrainer trainer({});
  const auto added = trainer.add("good\nbad \xFF\n");
  ASSERT_FALSE(added.has_value());
  EXPECT_EQ(added.error().kind, FailureKind::kCorrupt);
  EXPECT_THAT(added.error().message, HasSubstr("not UTF-8"));
}

TEST(BpeTrainerTest, RefusesSettingsOutsideTheirRange) {
  EXPECT_THROW(BpeTrainer({.vocab_size = -1}), ValueError);
  EXPECT_THROW(BpeTrainer({.vocab_size = std::int64_t{1} << 40}), ValueError);
  const std::vector<std::string> empty = {""};
  EXPECT_THROW(BpeTrainer({.special_tokens = empty}), ValueError);
}

}  // namespace
}  // namespace neap::text
