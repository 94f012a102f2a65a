// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// PreTokenizer: splits a text into words, each of which the model takes by
// itself, and writes its bytes or spaces as other characters where asked.
#pragma once

#include <string_view>

#include "neap/memory/containers.hpp"
#include "neap/text/json_value.hpp"
#include "neap/text/pattern.hpp"

namespace neap::text {

/// Words, as ranges of one text.
struct Pieces {
  struct Piece {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool is_first = false;  // begins where the whole text does
  };
  memory::String text;
  memory::Vector<Piece> list;

  std::string_view view(const Piece& piece) const noexcept {
    return std::string_view(text).substr(piece.begin, piece.end - piece.begin);
  }
};

/// Says what becomes of a match, and of the text between matches.
enum class Behavior {
  kRemoved,
  kIsolated,
  kMergedWithPrevious,
  kMergedWithNext,
  kContiguous
};

class PreTokenizer {
 public:
  /// Nothing is split.
  PreTokenizer() = default;
  /// THROWS: Refused; OutOfMemory.
  static PreTokenizer read(JsonValue json);
  /// ByteLevel with its pattern.
  static PreTokenizer byte_level();

  /// THROWS: ValueError of a pattern; OutOfMemory.
  void apply(Pieces& pieces) const;

 private:
  enum class Kind {
    kByteLevel,
    kSplit,
    kDigits,
    kMetaspace,
    kBert,
    kWhitespace,
    kWhitespaceSplit,
    kPunctuation
  };
  enum class Prepend { kNever, kFirst, kAlways };
  struct Step {
    Kind kind = Kind::kSplit;
    Behavior behavior = Behavior::kIsolated;
    Pattern pattern;
    memory::String replacement;  // of Metaspace
    Prepend prepend = Prepend::kNever;
    bool is_inverted = false;
    bool is_split = true;  // by the pattern, or before the replacement
  };
  static void read_parts(JsonValue json, int level, PreTokenizer& into);
  static Step read_step(JsonValue json, std::string_view type);
  static void read_split(JsonValue json, Step& step);
  static void read_byte_level(JsonValue json, Step& step);
  static void read_metaspace(JsonValue json, Step& step);
  static void apply(const Step& step, Pieces& pieces);
  static void apply_byte_level(const Step& step, Pieces& pieces);
  static void apply_metaspace(const Step& step, Pieces& pieces);

  memory::Vector<Step> steps_;
};

/// RETURNS: the behavior of that name. THROWS: Refused.
Behavior read_behavior(std::string_view name);

}  // namespace neap::text
