// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tokenizers beside what Hugging Face's library made of the same files and
// texts; record.py wrote both.
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "neap/text/tokenizer.hpp"

namespace neap::text {
namespace {

using nlohmann::json;
using Row = std::vector<std::int64_t>;

const json& cases() {
  static const json all =
      json::parse(std::ifstream(NEAP_TEXT_GOLDEN "/cases.json"));
  return all;
}

class GoldenTest : public testing::TestWithParam<std::size_t> {
 protected:
  const json& entry() const { return cases()["tokenizers"][GetParam()]; }
  Tokenizer tokenizer() const {
    return Tokenizer::open(NEAP_TEXT_GOLDEN "/" +
                           entry()["file"].get<std::string>())
        .value();
  }
  static std::string text(std::size_t at) {
    return cases()["texts"][at].get<std::string>();
  }
};

Row row_of(const memory::Vector<std::int64_t>& ids) {
  return Row(ids.begin(), ids.end());
}

TEST_P(GoldenTest, EncodesAsTheLibraryDoes) {
  const Tokenizer read = tokenizer();
  EXPECT_EQ(read.vocab_size(), entry()["size"].get<std::int64_t>());
  const json& rows = entry()["ids"];
  ASSERT_EQ(rows.size(), cases()["texts"].size());
  for (std::size_t at = 0; at < rows.size(); ++at) {
    EXPECT_EQ(row_of(read.encode(text(at))), rows[at].get<Row>()) << text(at);
  }
}

TEST_P(GoldenTest, LeavesOutSpecialTokensWhereAsked) {
  const Tokenizer read = tokenizer();
  const json& rows = entry()["plain"];
  for (std::size_t at = 0; at < rows.size(); ++at) {
    EXPECT_EQ(row_of(read.encode(text(at), {.add_special_tokens = false})),
              rows[at].get<Row>())
        << text(at);
  }
}

TEST_P(GoldenTest, DecodesAsTheLibraryDoes) {
  const Tokenizer read = tokenizer();
  const json& rows = entry()["ids"];
  for (std::size_t at = 0; at < rows.size(); ++at) {
    const Row ids = rows[at].get<Row>();
    EXPECT_EQ(std::string(read.decode(ids)),
              entry()["decoded"][at].get<std::string>());
    if (at % 4 == 0) {
      EXPECT_EQ(std::string(read.decode(ids, {.skip_special_tokens = false})),
                entry()["whole"][at / 4].get<std::string>());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenTest, testing::Range(std::size_t{0}, std::size_t{13}),
    [](const testing::TestParamInfo<std::size_t>& at) {
      const std::string file =
          cases()["tokenizers"][at.param]["file"].get<std::string>();
      return file.substr(0, file.find('.'));
    });

TEST(GoldenCasesTest, AreAllRun) {
  EXPECT_EQ(cases()["tokenizers"].size(), 13);
}

}  // namespace
}  // namespace neap::text
