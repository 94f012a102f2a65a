// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Decoder: tokens back to a text, a step after the other.
#pragma once

#include <string_view>

#include "neap/memory/containers.hpp"
#include "neap/text/json_value.hpp"
#include "neap/text/pattern.hpp"

namespace neap::text {

/// Texts in a row, in one block.
class TextList {
 public:
  std::size_t size() const noexcept { return ends_.size(); }
  std::string_view operator[](std::size_t i) const noexcept {
    const std::size_t begin = i == 0 ? 0 : ends_[i - 1];
    return std::string_view(bytes_).substr(begin, ends_[i] - begin);
  }
  void add(std::string_view text) {
    bytes_.append(text);
    end();
  }
  /// All bytes, for appending the next text; end() ends it.
  memory::String& bytes() noexcept { return bytes_; }
  void end() { ends_.push_back(bytes_.size()); }
  memory::String take() && { return std::move(bytes_); }
  void join_all();

 private:
  memory::String bytes_;
  memory::Vector<std::size_t> ends_;
};

class Decoder {
 public:
  Decoder() = default;
  /// THROWS: Refused; OutOfMemory.
  static Decoder read(JsonValue json);
  static Decoder byte_level();

  /// THROWS: ValueError of a pattern; OutOfMemory.
  memory::String apply(TextList tokens) const;

 private:
  enum class Kind {
    kByteLevel,
    kWordPiece,
    kByteFallback,
    kFuse,
    kMetaspace,
    kStrip,
    kReplace,
    kBpe
  };
  struct Step {
    Kind kind = Kind::kFuse;
    memory::String text;  // prefix, suffix, replacement or content
    Pattern pattern;
    char32_t character = 0;
    std::int64_t start = 0;  // characters that Strip takes at most
    std::int64_t stop = 0;
    bool is_cleaned = true;   // of WordPiece
    bool drops_first = true;  // of Metaspace
  };
  static void read_parts(JsonValue json, int level, Decoder& into);
  static Step read_step(JsonValue json, std::string_view type);
  static bool read_member(Step& step, std::string_view key, JsonValue value);
  static TextList apply(const Step& step, TextList tokens);

  memory::Vector<Step> steps_;
};

}  // namespace neap::text
