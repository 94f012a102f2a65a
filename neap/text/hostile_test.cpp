// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Files that are made to harm, or ask for what is not here, are refused in one
// line that names the reason.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/memory/out_of_memory.hpp"
#include "neap/text/json_for_test.hpp"

namespace neap::text {
namespace {

using testing::HasSubstr;

struct Bad {
  std::string json;
  FailureKind kind;
  const char* says;
};

void expect_refused(const Bad& bad) {
  const auto parsed = Tokenizer::parse(bad.json, "t.json");
  ASSERT_FALSE(parsed.has_value()) << bad.json.substr(0, 200);
  EXPECT_EQ(parsed.error().kind, bad.kind) << parsed.error().message;
  EXPECT_THAT(parsed.error().message, HasSubstr(bad.says));
  EXPECT_THAT(parsed.error().message, testing::StartsWith("t.json: "));
  EXPECT_EQ(parsed.error().message.find('\n'), std::string::npos);
}

std::string vocab(const std::string& tokens) {
  return json_of(R"({"type": "BPE", "vocab": {)" + tokens +
                 R"(}, "merges": []})");
}

std::string with(const std::string& member) {
  return json_of(bpe(), member);
}

std::string nested(int levels) {
  std::string inner = R"({"type": "NFC"})";
  for (int i = 0; i < levels; ++i) {
    inner = R"({"type": "Sequence", "normalizers": [)" + inner + "]}";
  }
  return inner;
}

TEST(HostileTokenizerTest, WhatIsNotJsonIsRefused) {
  for (const char* text : {"", "{", "[]", "null", "{}x", "{\"model\": }",
                           "{\"model\": {\"type\": \"BPE\"", "\xFF"}) {
    const auto parsed = Tokenizer::parse(text);
    ASSERT_FALSE(parsed.has_value()) << text;
    EXPECT_EQ(parsed.error().kind, FailureKind::kCorrupt) << text;
  }
}

TEST(HostileTokenizerTest, WhatIsNotHereIsRefusedByName) {
  const auto unsupported = FailureKind::kUnsupported;
  const std::vector<Bad> all = {
      {json_of(R"({"type": "Unigram", "vocab": []})"), unsupported, "Unigram"},
      {with(R"("normalizer": {"type": "Precompiled"})"), unsupported,
       "Precompiled"},
      {with(R"("pre_tokenizer": {"type": "UnicodeScripts"})"), unsupported,
       "UnicodeScripts"},
      {with(R"("post_processor": {"type": "Other"})"), unsupported, "Other"},
      {with(R"("decoder": {"type": "CTC"})"), unsupported, "CTC"},
      {with(R"("truncation": {"max_length": 3, "strategy": "OnlySecond"})"),
       unsupported, "OnlySecond"},
      {with(R"("truncation": {"max_length": 3, "more": 1})"), unsupported,
       "more"},
      {with(R"("padding": {"strategy": "Some", "pad_id": 0})"), unsupported,
       "Some"},
      {with(R"("padding": {"strategy": {"Half": 1}, "pad_id": 0})"),
       unsupported, "Half"},
      {with(R"("extra": 1)"), unsupported, "extra"},
      {with(R"("version": "2.0")"), unsupported, "2.0"},
      {json_of(bpe(R"("dropout": 0.1)")), unsupported, "dropout"},
      {json_of(bpe(R"("novelty": true)")), unsupported, "novelty"},
      {with(R"("normalizer": {"type": "NFC", "more": 1})"), unsupported,
       "more"},
      {with(R"("pre_tokenizer": {"type": "Split", "pattern": {"Regex": "\\h"},)"
            R"( "behavior": "Isolated"})"),
       unsupported, "escape"},
      {with(R"("pre_tokenizer": {"type": "Split", "pattern": {"Regex": "a"},)"
            R"( "behavior": "Shuffled"})"),
       unsupported, "Shuffled"},
      {with(R"("normalizer": )" + nested(9)), unsupported, "levels"}};
  for (const Bad& bad : all) {
    expect_refused(bad);
  }
  EXPECT_TRUE(
      Tokenizer::parse(with(R"("normalizer": )" + nested(8))).has_value());
}

TEST(HostileTokenizerTest, WhatContradictsItselfIsRefused) {
  const auto corrupt = FailureKind::kCorrupt;
  const std::vector<Bad> all = {
      {R"({"version": "1.0"})", corrupt, "no model"},
      {vocab(R"("a": 0, "a": 1)"), corrupt, "twice"},
      {vocab(R"("a": 0, "b": 0)"), corrupt, "twice"},
      {with(R"("truncation": {})"), corrupt, "max_length"},
      {with(R"("truncation": {"max_length": -1})"), corrupt, "not negative"},
      {with(R"("truncation": {"max_length": 3, "direction": "Up"})"), corrupt,
       "Up"},
      {with(R"("padding": {"strategy": "BatchLongest"})"), corrupt, "pad_id"},
      {with(R"("padding": {"pad_id": 4000})"), corrupt, "no token 4000"},
      {with(R"("padding": {"pad_id": 0, "strategy": {"Fixed": 99999999}})"),
       FailureKind::kTooLarge, "99999999"},
      {vocab(R"("a": -1)"), corrupt, "not negative"},
      {vocab(R"("a": 0.5)"), corrupt, "whole"},
      {vocab(R"("a": "0")"), corrupt, "number"},
      {vocab(R"("\ud800": 0)"), corrupt, "surrogate"},
      {vocab(R"("a": 0, "b": 900000)"), corrupt, "900000"},
      {vocab(R"("a": 99999999)"), FailureKind::kTooLarge, "99999999"},
      {vocab(R"("a": 99999999999999999999)"), corrupt, "63 bits"},
      {json_of(bpe("", R"("a z")")), corrupt, "'z' is no token"},
      {json_of(bpe("", R"("a c")")), corrupt, "'ac' is no token"},
      {json_of(bpe("", R"("a b c")")), corrupt, "two tokens"},
      {json_of(bpe("", R"(["a"])")), corrupt, "of 1 tokens"},
      {json_of(bpe(R"("unk_token": "?")")), corrupt, "unk_token"},
      {json_of(R"({"type": "WordPiece", "vocab": {"a": 0}})"), corrupt,
       "unk_token"},
      {with(R"("added_tokens": [{"id": 3, "content": "x"}])"), corrupt,
       "another's"},
      {with(R"("added_tokens": [{"id": 11, "content": "a"}])"), corrupt,
       "another's"},
      {with(R"("added_tokens": [{"content": "x"}])"), corrupt, "id"},
      {with(R"("added_tokens": [{"id": 10, "content": ""}])"), corrupt,
       "bytes"},
      {with(R"("added_tokens": [{"id": 10, "content": "x"},)"
            R"( {"id": 11, "content": "x"}])"),
       corrupt, "another's"},
      {with(R"("added_tokens": [{"id": 16000000, "content": "x"}])"), corrupt,
       "16000000"},
      {with(R"("post_processor": {"type": "BertProcessing", "sep": ["x", 50],)"
            R"( "cls": ["y", 1]})"),
       corrupt, "50"},
      {with(R"("post_processor": {"type": "BertProcessing"})"), corrupt,
       "cls"}};
  for (const Bad& bad : all) {
    expect_refused(bad);
  }
}

TEST(HostileTokenizerTest, AFarIdTakesNoMemory) {
  const auto domain = memory::Domain::create({.name = "test"});
  const memory::UseDomain use(*domain);
  expect_refused(
      {vocab(R"("a": 0, "b": 16777215)"), FailureKind::kCorrupt, "16777215"});
  EXPECT_LT(domain->stats().live_peak, 64 * kKiB);
}

TEST(HostileTokenizerTest, DeepJsonIsRefused) {
  const std::string deep = std::string(100'000, '[');
  expect_refused({R"({"model": )" + deep, FailureKind::kCorrupt, "64 levels"});
}

TEST(HostileTokenizerTest, APatternThatBlowsUpEndsInATypedError) {
  const Tokenizer tokenizer =
      parsed(with(R"("pre_tokenizer": {"type": "Split", "pattern": {"Regex":)"
                  R"( "(a|a)*(a|a)*[bd]"}, "behavior": "Isolated"})"));
  const std::string text(4000, 'a');
  EXPECT_THROW(static_cast<void>(tokenizer.encode(text)), ValueError);
  const auto large = Tokenizer::parse(
      with(R"("pre_tokenizer": {"type": "Split", "pattern": {"Regex":)"
           R"( "(((a{900}){900}){900}){900}"}, "behavior": "Isolated"})"));
  EXPECT_FALSE(large.has_value());
}

// Fails each request for memory once, by its number.
TEST(HostileTokenizerTest, EveryFailingRequestLeavesNothing) {
  const std::string json =
      with(R"("normalizer": {"type": "NFKD"}, "pre_tokenizer": {"type":)"
           R"( "Split", "pattern": {"Regex": "(a|b)+|\\s"}, "behavior":)"
           R"( "Isolated"}, "decoder": {"type": "Fuse"}, "added_tokens":)"
           R"( [{"id": 10, "content": "<s>"}])");
  const auto domain = memory::Domain::create({.name = "test"});
  const memory::UseDomain use(*domain);
  bool is_done = false;
  int failures = 0;
  for (std::int64_t at = 1; !is_done; ++at) {
    domain->fail_at(at);
    try {
      const Tokenizer tokenizer = parsed(json);
      const auto ids = tokenizer.encode("ab \xC3\xA9<s>abc");
      is_done = !tokenizer.decode(ids).empty();
    } catch (const OutOfMemory&) {
      ++failures;
    }
    EXPECT_EQ(domain->stats().live, 0);
  }
  domain->fail_at(0);
  EXPECT_GT(failures, 50);
}

}  // namespace
}  // namespace neap::text
