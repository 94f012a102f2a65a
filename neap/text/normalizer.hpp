// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Normalizer: what is done to a text before it is split, a step after the
// other.
#pragma once

#include <string_view>

#include "neap/memory/containers.hpp"
#include "neap/text/json_value.hpp"
#include "neap/text/pattern.hpp"
#include "neap/text/unicode.hpp"

namespace neap::text {

class Normalizer {
 public:
  /// Nothing is done.
  Normalizer() = default;
  /// THROWS: Refused; OutOfMemory.
  static Normalizer read(JsonValue json);

  /// REQUIRES: `text` is UTF-8. THROWS: ValueError of a pattern; OutOfMemory.
  memory::String apply(std::string_view text) const;
  bool is_empty() const noexcept { return steps_.empty(); }

 private:
  enum class Kind {
    kForm,
    kLowercase,
    kStripAccents,
    kStrip,
    kReplace,
    kPrepend,
    kBert
  };
  struct Step {
    Kind kind = Kind::kForm;
    NormalForm form = NormalForm::kNfc;
    Pattern pattern;
    memory::String text;  // what replaces a match, or is prepended
    bool strips_left = true;
    bool strips_right = true;
    bool cleans = true;  // of BERT, as the next three
    bool spaces_chinese = true;
    bool strips_accents = true;
    bool lowers = true;
  };
  static Step read_step(JsonValue json, std::string_view type);
  static void read_bert(JsonValue json, Step& step);
  static void read_parts(JsonValue json, int level, Normalizer& into);
  static memory::String apply(const Step& step, std::string_view text);
  static memory::String apply_bert(const Step& step, std::string_view text);

  memory::Vector<Step> steps_;
};

/// The member "pattern" of several types: {"String": ...} or {"Regex": ...}.
Pattern read_pattern(JsonValue json);
/// Replaces every match. THROWS: ValueError of the pattern; OutOfMemory.
memory::String replace_all(const Pattern& pattern, std::string_view text,
                           std::string_view by);

}  // namespace neap::text
