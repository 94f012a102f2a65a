// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Vocabulary: the numbers (tokens) of pieces of text. Two kinds: all 256 bytes,
// token b being byte b, which can hold any text; or the characters (code points
// of UTF-8) of some text, in ascending order, so that the same characters have
// the same tokens wherever they occurred.
#pragma once

#include <span>
#include <string_view>

#include "neap/base/result.hpp"
#include "neap/memory/containers.hpp"

namespace neap::data {

enum class Symbols : std::uint8_t { kBytes, kCharacters };

class NEAP_API Vocabulary {
 public:
  /// The most characters that one may have: a token fits 16 bits.
  static constexpr std::int64_t kMost = 65'536;

  /// All bytes.
  Vocabulary() = default;
  /// The characters that occur in `text`. Failures: kCorrupt where it is not
  /// UTF-8, kUnsupported for more than kMost. THROWS: OutOfMemory.
  static Result<Vocabulary> of_characters(std::string_view text);
  /// THROWS: ValueError unless the code points ascend, none twice, and are at
  /// most kMost.
  static Vocabulary of_sorted(memory::Vector<char32_t> code_points);

  Symbols symbols() const noexcept {
    return is_bytes_ ? Symbols::kBytes : Symbols::kCharacters;
  }
  /// The number of tokens, which are 0 to size() - 1.
  std::int64_t size() const noexcept;

  /// The token of a code point (or, of bytes, of a byte); -1: it has none.
  std::int64_t token_of(char32_t symbol) const noexcept;

  /// Failures: kCorrupt where the text is not UTF-8, kMismatch for a character
  /// without a token; both name the byte. THROWS: OutOfMemory.
  Result<memory::Vector<std::int64_t>> encode(std::string_view text) const;
  /// THROWS: ValueError for a token outside [0, size()); OutOfMemory.
  memory::String decode(std::span<const std::int64_t> tokens) const;

  /// All characters in the order of their tokens, as UTF-8, from which
  /// of_characters() restores the vocabulary. Empty for bytes.
  memory::String characters() const;

  friend bool operator==(const Vocabulary&, const Vocabulary&) = default;

 private:
  bool is_bytes_ = true;
  memory::Vector<char32_t> code_points_{
      memory::Allocator<char32_t>(memory::Category::kData)};
};

}  // namespace neap::data
