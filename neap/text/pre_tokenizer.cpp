// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/pre_tokenizer.hpp"

#include <array>
#include <optional>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/text/byte_level.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/normalizer.hpp"
#include "neap/text/refused.hpp"
#include "neap/text/split.hpp"
#include "neap/text/unicode.hpp"

namespace neap::text {
namespace {

// Writes every word anew, by put(word) at the end of a text.
template <class Put>
void rewrite(Pieces& pieces, const Put& put) {
  memory::String text;
  text.reserve(2 * pieces.text.size());
  for (Pieces::Piece& piece : pieces.list) {
    const std::size_t begin = text.size();
    put(text, piece);
    piece.begin = begin;
    piece.end = text.size();
  }
  pieces.text.swap(text);
}

}  // namespace

Behavior read_behavior(std::string_view name) {
  constexpr std::array<std::pair<std::string_view, Behavior>, 5> kNames = {
      {{"Removed", Behavior::kRemoved},
       {"Isolated", Behavior::kIsolated},
       {"MergedWithPrevious", Behavior::kMergedWithPrevious},
       {"MergedWithNext", Behavior::kMergedWithNext},
       {"Contiguous", Behavior::kContiguous}}};
  for (const auto& [known, behavior] : kNames) {
    if (name == known) {
      return behavior;
    }
  }
  refuse(FailureKind::kUnsupported,
         "pre_tokenizer: behavior '{}' is not read here", base::shown(name));
}

PreTokenizer PreTokenizer::read(JsonValue json) {
  PreTokenizer made;
  if (!json.is_null()) {
    read_parts(json, 0, made);
  }
  return made;
}

PreTokenizer PreTokenizer::byte_level() {
  PreTokenizer made;
  Step step;
  step.kind = Kind::kByteLevel;
  step.pattern = Pattern::of_regex(kByteLevelPattern);
  made.steps_.push_back(std::move(step));
  return made;
}

void PreTokenizer::read_parts(JsonValue json, int level, PreTokenizer& into) {
  const memory::String type = json.type();
  if (type != "Sequence") {
    into.steps_.push_back(read_step(json, type));
    return;
  }
  if (level == kMostLevels) {
    refuse(FailureKind::kUnsupported, "pre_tokenizer: more than {} levels",
           kMostLevels);
  }
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "pretokenizers") {
      value.elements(
          [&](JsonValue part) { read_parts(part, level + 1, into); });
    } else if (key != "type") {
      json.refuse_member(key);
    }
  });
  check_steps(into.steps_.size(), "pre_tokenizer");
}

PreTokenizer::Step PreTokenizer::read_step(JsonValue json,
                                           std::string_view type) {
  constexpr std::array<std::pair<std::string_view, Kind>, 8> kKinds = {
      {{"ByteLevel", Kind::kByteLevel},
       {"Split", Kind::kSplit},
       {"Digits", Kind::kDigits},
       {"Metaspace", Kind::kMetaspace},
       {"BertPreTokenizer", Kind::kBert},
       {"Whitespace", Kind::kWhitespace},
       {"WhitespaceSplit", Kind::kWhitespaceSplit},
       {"Punctuation", Kind::kPunctuation}}};
  const auto* found =
      std::find_if(kKinds.begin(), kKinds.end(),
                   [&](const auto& known) { return known.first == type; });
  if (found == kKinds.end()) {
    refuse(FailureKind::kUnsupported, "pre_tokenizer '{}' is not read here",
           base::shown(type));
  }
  Step step;
  step.kind = found->second;
  switch (step.kind) {
    case Kind::kByteLevel:
      read_byte_level(json, step);
      return step;
    case Kind::kSplit:
      read_split(json, step);
      return step;
    case Kind::kMetaspace:
      read_metaspace(json, step);
      return step;
    default:
      break;
  }
  json.members([&](std::string_view key, JsonValue value) {
    if (step.kind == Kind::kDigits && key == "individual_digits") {
      step.behavior =
          value.boolean() ? Behavior::kIsolated : Behavior::kContiguous;
    } else if (step.kind == Kind::kPunctuation && key == "behavior") {
      step.behavior = read_behavior(value.string());
    } else if (key != "type") {
      json.refuse_member(key);
    }
  });
  return step;
}

void PreTokenizer::read_byte_level(JsonValue json, Step& step) {
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "add_prefix_space") {
      step.prepend = value.boolean() ? Prepend::kAlways : Prepend::kNever;
    } else if (key == "use_regex") {
      step.is_split = value.boolean();
    } else if (key != "type" && key != "trim_offsets") {
      json.refuse_member(key);
    }
  });
  if (step.is_split) {
    step.pattern = Pattern::of_regex(kByteLevelPattern);
  }
}

void PreTokenizer::read_split(JsonValue json, Step& step) {
  bool has_pattern = false;
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "pattern") {
      step.pattern = read_pattern(value);
      has_pattern = true;
    } else if (key == "behavior") {
      step.behavior = read_behavior(value.string());
    } else if (key == "invert") {
      step.is_inverted = value.boolean();
    } else if (key != "type") {
      json.refuse_member(key);
    }
  });
  if (!has_pattern) {
    refuse(FailureKind::kCorrupt, "pre_tokenizer Split: it has no pattern");
  }
}

void PreTokenizer::read_metaspace(JsonValue json, Step& step) {
  step.prepend = Prepend::kAlways;
  append_code_point(step.replacement, 0x2581);
  std::optional<bool> adds;
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "replacement") {
      step.replacement.clear();
      append_code_point(step.replacement, value.character());
    } else if (key == "prepend_scheme") {
      const memory::String scheme = value.string();
      step.prepend = scheme == "always"  ? Prepend::kAlways
                     : scheme == "first" ? Prepend::kFirst
                                         : Prepend::kNever;
      if (step.prepend == Prepend::kNever && scheme != "never") {
        refuse(FailureKind::kUnsupported,
               "pre_tokenizer Metaspace: prepend_scheme '{}' is not read here",
               base::shown(scheme));
      }
    } else if (key == "add_prefix_space") {
      adds = value.boolean();
    } else if (key == "split") {
      step.is_split = value.is_null() || value.boolean();
    } else if (key != "type" && key != "str_rep") {
      json.refuse_member(key);
    }
  });
  if (adds && !*adds) {  // of older files
    step.prepend = Prepend::kNever;
  }
  step.pattern = Pattern::of_literal(step.replacement);
}

void PreTokenizer::apply(Pieces& pieces) const {
  for (const Step& step : steps_) {
    apply(step, pieces);
  }
}

void PreTokenizer::apply(const Step& step, Pieces& pieces) {
  switch (step.kind) {
    case Kind::kByteLevel:
      return apply_byte_level(step, pieces);
    case Kind::kSplit:
      return split(pieces, step.pattern, step.behavior, step.is_inverted);
    case Kind::kDigits:
      return split(pieces, is_numeric, step.behavior);
    case Kind::kMetaspace:
      return apply_metaspace(step, pieces);
    case Kind::kBert:
      split(pieces, is_space, Behavior::kRemoved);
      return split(pieces, is_punctuation, Behavior::kIsolated);
    case Kind::kWhitespace:
      return split_words(pieces);
    case Kind::kWhitespaceSplit:
      return split(pieces, is_space, Behavior::kRemoved);
    case Kind::kPunctuation:
      return split(pieces, is_punctuation, step.behavior);
  }
}

void PreTokenizer::apply_byte_level(const Step& step, Pieces& pieces) {
  if (step.prepend == Prepend::kAlways) {
    rewrite(pieces, [&](memory::String& out, const Pieces::Piece& piece) {
      const std::string_view word = pieces.view(piece);
      if (!word.starts_with(' ')) {
        out.push_back(' ');
      }
      out.append(word);
    });
  }
  if (step.is_split) {
    split(pieces, step.pattern, Behavior::kIsolated);
  }
  rewrite(pieces, [&](memory::String& out, const Pieces::Piece& piece) {
    append_bytes_as_characters(out, pieces.view(piece));
  });
}

void PreTokenizer::apply_metaspace(const Step& step, Pieces& pieces) {
  rewrite(pieces, [&](memory::String& out, const Pieces::Piece& piece) {
    const std::string_view word = pieces.view(piece);
    const bool is_asked = step.prepend == Prepend::kAlways ||
                          (step.prepend == Prepend::kFirst && piece.is_first);
    if (is_asked && !word.starts_with(' ') &&
        !word.starts_with(step.replacement)) {
      out.append(step.replacement);
    }
    for (const char byte : word) {
      if (byte == ' ') {
        out.append(step.replacement);
      } else {
        out.push_back(byte);
      }
    }
  });
  if (step.is_split) {
    split(pieces, step.pattern, Behavior::kMergedWithNext);
  }
}

}  // namespace neap::text
