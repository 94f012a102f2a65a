// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TextOut: a text of tokens on standard output, written as it grows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "neap/data/text_set.hpp"
#include "neap/text/tokenizer.hpp"

namespace neap::app {

/// Texts and the tokens of a model.
class Codec {
 public:
  Codec() = default;
  virtual ~Codec() = default;
  Codec(const Codec&) = delete;
  Codec& operator=(const Codec&) = delete;

  virtual memory::String decode(std::span<const std::int64_t> tokens) const = 0;
  /// The token that stands before what has nothing before it.
  virtual std::int64_t start() const = 0;
};

/// LIFETIME: the vocabulary's.
class SymbolCodec final : public Codec {
 public:
  explicit SymbolCodec(const data::Vocabulary& vocabulary)
      : vocabulary_(vocabulary) {}
  memory::String decode(std::span<const std::int64_t> tokens) const override;
  std::int64_t start() const override;  // a line's end

 private:
  const data::Vocabulary& vocabulary_;
};

/// LIFETIME: the tokenizer's.
class TokenizerCodec final : public Codec {
 public:
  explicit TokenizerCodec(const text::Tokenizer& tokenizer)
      : tokenizer_(tokenizer) {}
  memory::String decode(std::span<const std::int64_t> tokens) const override;
  std::int64_t start() const override;

 private:
  const text::Tokenizer& tokenizer_;
};

class TextOut {
 public:
  /// Text ends before the first of `stops` that is written; the prompt's is
  /// not looked at. LIFETIME: both arguments'.
  TextOut(const Codec& codec, const std::vector<std::string>& stops)
      : codec_(codec), stops_(stops) {}

  /// Writes the text of a prompt's tokens.
  void begin(std::span<const std::int64_t> tokens);
  /// In place of it: the first tokens have no text.
  void pass_over(std::size_t count);
  /// Writes the new end of the text of all tokens, as far as it is known:
  /// characters that may be the beginning of a stop wait. RETURNS: whether it
  /// goes on: no stop was met, and standard output takes more.
  bool add(std::span<const std::int64_t> tokens);
  /// Writes what waits, and the end of the line.
  void end(std::span<const std::int64_t> tokens);

 private:
  void take(std::span<const std::int64_t> tokens, bool is_last);
  std::size_t stop_at() const;
  std::size_t may_begin_stop() const;
  void write(std::size_t count);

  const Codec& codec_;
  const std::vector<std::string>& stops_;
  std::size_t before_ = 0;  // tokens whose text is the context of those
  std::size_t now_ = 0;     // up to here, whose text was taken
  std::string waiting_;     // taken, and not yet written
  bool is_over_ = false;
};

}  // namespace neap::app
