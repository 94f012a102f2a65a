// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/tokenizer.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "neap/base/error.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/text/json_for_test.hpp"

namespace neap::text {
namespace {

std::string added(int id, const std::string& content,
                  const std::string& more = {}) {
  return R"({"id": )" + std::to_string(id) + R"(, "content": ")" + content +
         R"(", "special": false)" + (more.empty() ? "" : ", " + more) + "}";
}

Tokenizer with_added(const std::string& tokens,
                     const std::string& members = {}) {
  return parsed(json_of(bpe(), R"("added_tokens": [)" + tokens + "]" +
                                   (members.empty() ? "" : ", " + members)));
}

TEST(TokenizerTest, KnowsItsTokens) {
  const Tokenizer tokenizer = with_added(added(20, "<s>"));
  EXPECT_EQ(tokenizer.vocab_size(), 11);
  EXPECT_EQ(tokenizer.id_limit(), 21);
  EXPECT_EQ(tokenizer.id_of("abc"), 6);
  EXPECT_EQ(tokenizer.id_of("<s>"), 20);
  EXPECT_EQ(tokenizer.id_of("zzz"), -1);
  EXPECT_EQ(tokenizer.token_of(6), "abc");
  EXPECT_EQ(tokenizer.token_of(20), "<s>");
  EXPECT_THROW(static_cast<void>(tokenizer.token_of(15)), ValueError);
  EXPECT_THROW(static_cast<void>(tokenizer.token_of(-1)), ValueError);
}

TEST(TokenizerTest, FindsAddedTokensBeforeAnythingElse) {
  const Tokenizer tokenizer =
      with_added(added(10, "bd") + "," + added(11, "bde"));
  EXPECT_EQ(encoded(tokenizer, "abdbdea"), (Row{0, 10, 11, 0}));
}

TEST(TokenizerTest, FindsSingleWordsAlone) {
  const Tokenizer tokenizer =
      with_added(added(10, "x", R"("single_word": true)"));
  EXPECT_EQ(encoded(tokenizer, "x.xd.x"), (Row{10, 3, 10}));
}

TEST(TokenizerTest, TakesWhiteSpaceBesideATokenWhereAsked) {
  const Tokenizer left = with_added(added(10, "x", R"("lstrip": true)"),
                                    R"("normalizer": {"type": "Replace",)"
                                    R"( "pattern": {"String": " "},)"
                                    R"( "content": "d"})");
  EXPECT_EQ(encoded(left, "a  x a"), (Row{0, 10, 3, 0}));
  const Tokenizer right = with_added(added(10, "x", R"("rstrip": true)"),
                                     R"("normalizer": {"type": "Replace",)"
                                     R"( "pattern": {"String": " "},)"
                                     R"( "content": "d"})");
  EXPECT_EQ(encoded(right, "a x  a"), (Row{0, 3, 10, 0}));
}

TEST(TokenizerTest, FindsNormalizedTokensInNormalizedText) {
  const Tokenizer tokenizer =
      with_added(added(10, "CD", R"("normalized": true)") + "," +
                     added(11, "AB", R"("normalized": false)"),
                 R"("normalizer": {"type": "Lowercase"})");
  EXPECT_EQ(encoded(tokenizer, "cDab"), (Row{10, 5}));
  EXPECT_EQ(encoded(tokenizer, "CDAB"), (Row{10, 11}));
}

TEST(TokenizerTest, PutsSpecialTokensAround) {
  const std::string members =
      R"("post_processor": {"type": "Sequence", "processors": [)"
      R"({"type": "ByteLevel"}, {"type": "TemplateProcessing", "single":)"
      R"( [{"SpecialToken": {"id": "x", "type_id": 0}}, {"Sequence": {"id":)"
      R"( "A", "type_id": 0}}], "pair": [], "special_tokens": {"x": {"id":)"
      R"( "x", "ids": [3, 4], "tokens": ["d", "e"]}}},)"
      R"( {"type": "BertProcessing", "sep": ["b", 1], "cls": ["c", 2]}]})";
  const Tokenizer tokenizer = parsed(json_of(bpe(), members));
  EXPECT_EQ(encoded(tokenizer, "a"), (Row{2, 3, 4, 0, 1}));
  const auto plain = tokenizer.encode("a", {.add_special_tokens = false});
  EXPECT_EQ(Row(plain.begin(), plain.end()), (Row{0}));
}

TEST(TokenizerTest, LeavesOutSpecialTokensOfADecodedText) {
  const Tokenizer tokenizer = parsed(json_of(
      bpe(), R"("decoder": {"type": "Fuse"}, "added_tokens": [{"id": 10,)"
             R"( "content": "<s>", "special": true}])"));
  const Row ids = {10, 6, 10};
  EXPECT_EQ(std::string(tokenizer.decode(ids)), "abc");
  EXPECT_EQ(std::string(tokenizer.decode(ids, {.skip_special_tokens = false})),
            "<s>abc<s>");
  const Row bad = {99};
  EXPECT_THROW(static_cast<void>(tokenizer.decode(bad)), ValueError);
}

TEST(TokenizerTest, PutsSpacesBetweenTokensWithoutADecoder) {
  const Row ids = {0, 6};
  EXPECT_EQ(std::string(parsed(json_of(bpe())).decode(ids)), "a abc");
}

TEST(TokenizerTest, PrependsToTheFirstWordAlone) {
  const std::string underline = "\xE2\x96\x81";
  const Tokenizer tokenizer = parsed(json_of(
      R"({"type": "BPE", "vocab": {"a": 0, ")" + underline +
          R"(": 1}, "merges": []})",
      R"("added_tokens": [{"id": 2, "content": "<s>"}], "pre_tokenizer":)"
      R"( {"type": "Metaspace", "prepend_scheme": "first"})"));
  EXPECT_EQ(encoded(tokenizer, "a<s>a"), (Row{1, 0, 2, 0}));
  EXPECT_EQ(encoded(tokenizer, " a a"), (Row{1, 0, 1, 0}));
}

TEST(TokenizerTest, TakesBytesThatAreNotUtf8ForTheReplacement) {
  const Tokenizer tokenizer = parsed(json_of(
      R"({"type": "BPE", "vocab": {"a": 0, "\ufffd": 1}, "merges": []})"));
  EXPECT_EQ(encoded(tokenizer, "a\xFF\xE4\xB8"), (Row{0, 1, 1}));
}

TEST(TokenizerTest, ReadsAFilePlainOrNames) {
  const files::TemporaryFolder folder;
  const std::string path = folder.put("tokenizer.json", json_of(bpe()) + "\n");
  EXPECT_EQ(Tokenizer::open(path).value().vocab_size(), 10);
  const auto none = Tokenizer::open(folder.at("none"));
  ASSERT_FALSE(none.has_value());
  EXPECT_EQ(none.error().kind, FailureKind::kNotFound);
}

TEST(TokenizerTest, EncodesInManyThreads) {
  const Tokenizer tokenizer =
      parsed(json_of(bpe(), R"("pre_tokenizer": {"type": "Split", "pattern":)"
                            R"( {"Regex": "[a-c]+|d"}, "behavior": "Isolated",)"
                            R"( "invert": false})"));
  std::vector<std::thread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int turn = 0; turn < 50; ++turn) {
        good += encoded(tokenizer, "abcdabc") == Row({6, 3, 6}) ? 1 : 0;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(good, 200);
}

TEST(TokenizerTest, TakesTimeLinearInTheText) {
  const Tokenizer tokenizer = parsed(json_of(
      bpe(), R"("pre_tokenizer": {"type": "ByteLevel", "add_prefix_space":)"
             R"( false}, "normalizer": {"type": "NFC"})"));
  std::string text;
  for (int i = 0; i < 100'000; ++i) {
    text += "abc \n  de\xCC\x81 ";
  }
  EXPECT_GE(tokenizer.encode(text).size(), std::size_t{200'000});
  const std::string spaces(1 << 20, ' ');
  EXPECT_TRUE(tokenizer.encode(spaces + "a").size() == 1);
}

}  // namespace
}  // namespace neap::text
