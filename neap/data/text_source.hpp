// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A text, symbol by symbol, from wherever bytes come. Of this room alone.
#pragma once

#include "neap/base/function_ref.hpp"
#include "neap/data/vocabulary.hpp"
#include "neap/files/byte_source.hpp"

namespace neap::data {

/// The bytes of a text in memory.
/// LIFETIME: the text outlives it.
class TextSource final : public files::ByteSource {
 public:
  explicit TextSource(std::string_view text) noexcept : text_(text) {}
  Result<Bytes> read(std::span<std::byte> into) override;
  files::Remaining remaining() const noexcept override {
    return {static_cast<Bytes>(text_.size()), true};
  }
  std::string_view name() const noexcept override { return "text"; }

 private:
  std::string_view text_;
};

/// Calls each(symbol) for every byte or code point, until it returns false.
/// Failures: kCorrupt where characters are asked for and the bytes are not
/// UTF-8; those of the source. THROWS: OutOfMemory (a buffer of 64 KiB).
Result<void> walk_symbols(files::ByteSource& source, Symbols symbols,
                          base::FunctionRef<bool(char32_t)> each);

/// The code points that occurred: a bit each, 136 KiB in all.
class CharacterSet {
 public:
  CharacterSet();
  void add(char32_t code_point) noexcept;
  /// Failure kUnsupported for more than Vocabulary::kMost.
  Result<Vocabulary> vocabulary(std::string_view source_name) const;

 private:
  memory::Vector<std::uint64_t> bits_;
};

}  // namespace neap::data
