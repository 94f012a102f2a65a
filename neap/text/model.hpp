// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The models: a word of a text in, ids out. Byte-pair encoding, on characters
// or on the characters that bytes are written as, and WordPiece.
#pragma once

#include <string_view>

#include "neap/memory/containers.hpp"
#include "neap/text/json_value.hpp"
#include "neap/text/pair_table.hpp"
#include "neap/text/token_table.hpp"

namespace neap::text {

using Ids = memory::Vector<std::int64_t>;

class Model {
 public:
  Model() = default;
  Model(const Model&) = delete;
  Model& operator=(const Model&) = delete;
  virtual ~Model() = default;

  /// The member "model" of a tokenizer.json. THROWS: Refused; OutOfMemory.
  static memory::Owned<Model> read(JsonValue json);

  /// Appends the ids of a word, which is not empty. THROWS: OutOfMemory.
  virtual void encode(std::string_view word, Ids& out) const = 0;
  const TokenTable& tokens() const noexcept { return tokens_; }

 protected:
  TokenTable tokens_;
};

/// A merge of byte-pair encoding: of two tokens by their ids.
struct Merge {
  std::uint32_t rank = 0;  // lower ones go first
  std::uint32_t id = 0;    // of what they become
};

class Bpe final : public Model {
 public:
  static memory::Owned<Model> read(JsonValue json);
  void encode(std::string_view word, Ids& out) const override;

 private:
  struct Symbol;
  struct Candidate;
  struct Work;
  void read_merges(JsonValue json);
  void add_merge(std::string_view first, std::string_view second);
  void find_bytes();
  void append_symbols(std::string_view word, Work& work) const;
  void append_character(std::string_view character, Work& work) const;
  void consider(std::size_t left, Work& work) const;
  void merge(Work& work) const;

  PairTable<Merge> merges_;
  std::uint32_t merge_count_ = 0;
  memory::String prefix_;                      // of what continues a word
  memory::String suffix_;                      // of what ends one
  memory::Vector<std::uint32_t> byte_tokens_;  // <0x00> and so on, or kNone
  std::uint32_t unknown_ = TokenTable::kNone;
  bool fuses_unknown_ = false;
  bool falls_back_ = false;      // to byte_tokens_
  bool ignores_merges_ = false;  // of words that are tokens
};

class WordPiece final : public Model {
 public:
  static memory::Owned<Model> read(JsonValue json);
  void encode(std::string_view word, Ids& out) const override;

 private:
  struct Match {
    std::uint32_t id = TokenTable::kNone;
    std::size_t size = 0;  // bytes of the word
  };
  Match longest(std::string_view word, std::size_t at,
                memory::String& room) const;

  memory::String prefix_;
  std::uint32_t unknown_ = TokenTable::kNone;
  std::size_t most_characters_ = 100;
};

/// The member "vocab": {token: id, ...}. Refused are ids given twice, and ids
/// far beyond the number of tokens, before memory is taken for them.
void read_vocabulary(JsonValue json, TokenTable& into);

}  // namespace neap::text
