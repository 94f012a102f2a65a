// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A tokenizer learned from a text, and one read from a file, in use.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "neap/neap.hpp"
#include "neap/text/tokenizer.hpp"
#include "neap/text/trainer.hpp"

namespace {

using neap::text::Tokenizer;

// Reads a tokenizer.json and shows what it makes of a text.
bool show(const std::string& path) {
  const auto tokenizer = Tokenizer::open(path);
  if (!tokenizer) {
    std::printf("%s\n", tokenizer.error().message.c_str());
    return false;
  }
  const std::string text = "the tide was low";
  const auto ids = tokenizer->encode(text);
  for (const std::int64_t id : ids) {
    std::printf("%lld  %s\n", static_cast<long long>(id),
                std::string(tokenizer->token_of(id)).c_str());
  }
  return tokenizer->decode(ids) == text.c_str();
}

// Learns 300 tokens and writes them where other programs read them.
void learn(const std::string& path) {
  neap::text::BpeTrainer trainer({.vocab_size = 300});
  trainer.add("the tide was low\nthe tide was lower\nthe tides\n").value();
  std::ofstream(path) << trainer.train();
}

}  // namespace

int main() {
  const auto path = std::filesystem::temp_directory_path() /
                    ("neap-tokenizer-" + std::to_string(std::rand()) + ".json");
  learn(path.string());
  const bool is_same = show(path.string());
  std::filesystem::remove(path);
  return is_same ? 0 : 1;
}
