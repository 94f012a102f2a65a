// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/decoder.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/text/decode_steps.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/normalizer.hpp"
#include "neap/text/refused.hpp"

namespace neap::text {

void TextList::join_all() {
  ends_.clear();
  end();
}

Decoder Decoder::read(JsonValue json) {
  Decoder made;
  if (!json.is_null()) {
    read_parts(json, 0, made);
  }
  return made;
}

Decoder Decoder::byte_level() {
  Decoder made;
  Step step;
  step.kind = Kind::kByteLevel;
  made.steps_.push_back(std::move(step));
  return made;
}

void Decoder::read_parts(JsonValue json, int level, Decoder& into) {
  const memory::String type = json.type();
  if (type != "Sequence") {
    into.steps_.push_back(read_step(json, type));
    return;
  }
  if (level == kMostLevels) {
    refuse(FailureKind::kUnsupported, "decoder: more than {} levels",
           kMostLevels);
  }
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "decoders") {
      value.elements(
          [&](JsonValue part) { read_parts(part, level + 1, into); });
    } else if (key != "type") {
      json.refuse_member(key);
    }
  });
  check_steps(into.steps_.size(), "decoder");
}

Decoder::Step Decoder::read_step(JsonValue json, std::string_view type) {
  constexpr std::array<std::pair<std::string_view, Kind>, 8> kKinds = {
      {{"ByteLevel", Kind::kByteLevel},
       {"WordPiece", Kind::kWordPiece},
       {"ByteFallback", Kind::kByteFallback},
       {"Fuse", Kind::kFuse},
       {"Metaspace", Kind::kMetaspace},
       {"Strip", Kind::kStrip},
       {"Replace", Kind::kReplace},
       {"BPEDecoder", Kind::kBpe}}};
  const auto* found =
      std::find_if(kKinds.begin(), kKinds.end(),
                   [&](const auto& known) { return known.first == type; });
  if (found == kKinds.end()) {
    refuse(FailureKind::kUnsupported, "decoder '{}' is not read here",
           base::shown(type));
  }
  Step step;
  step.kind = found->second;
  step.text = step.kind == Kind::kWordPiece ? "##"
              : step.kind == Kind::kBpe     ? "</w>"
                                            : "";
  step.character = step.kind == Kind::kMetaspace ? 0x2581 : U' ';
  bool has_pattern = step.kind != Kind::kReplace;
  json.members([&](std::string_view key, JsonValue value) {
    has_pattern = has_pattern || key == "pattern";
    if (key != "type" && !read_member(step, key, value)) {
      json.refuse_member(key);
    }
  });
  if (!has_pattern) {
    refuse(FailureKind::kCorrupt, "decoder Replace: it has no pattern");
  }
  return step;
}

// False: the step has no such member.
bool Decoder::read_member(Step& step, std::string_view key, JsonValue value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 31;
  switch (step.kind) {
    case Kind::kByteLevel:
      return key == "add_prefix_space" || key == "trim_offsets" ||
             key == "use_regex";
    case Kind::kWordPiece:
      if (key == "prefix") {
        step.text = value.string();
      } else if (key == "cleanup") {
        step.is_cleaned = value.boolean();
      } else {
        return false;
      }
      return true;
    case Kind::kMetaspace:
      if (key == "replacement") {
        step.character = value.character();
      } else if (key == "prepend_scheme") {
        step.drops_first = value.string() != "never";
      } else if (key == "add_prefix_space") {
        step.drops_first = step.drops_first && value.boolean();
      } else {
        return key == "split" || key == "str_rep";
      }
      return true;
    case Kind::kStrip:
      if (key == "content") {
        step.character = value.character();
      } else if (key == "start") {
        step.start = value.number(kMost);
      } else if (key == "stop") {
        step.stop = value.number(kMost);
      } else {
        return false;
      }
      return true;
    case Kind::kReplace:
      if (key == "pattern") {
        step.pattern = read_pattern(value);
      } else if (key == "content") {
        step.text = value.string();
      } else {
        return false;
      }
      return true;
    case Kind::kBpe:
      if (key == "suffix") {
        step.text = value.string();
        return true;
      }
      return false;
    case Kind::kByteFallback:
    case Kind::kFuse:
      return false;
  }
  return false;
}

memory::String Decoder::apply(TextList tokens) const {
  for (const Step& step : steps_) {
    tokens = apply(step, std::move(tokens));
  }
  if (!steps_.empty()) {
    return std::move(tokens).take();
  }
  memory::String text;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (i > 0) {
      text.push_back(' ');
    }
    text.append(tokens[i]);
  }
  return text;
}

TextList Decoder::apply(const Step& step, TextList tokens) {
  switch (step.kind) {
    case Kind::kByteLevel:
      return decode_byte_level(tokens);
    case Kind::kWordPiece:
      return decode_word_piece(tokens, step.text, step.is_cleaned);
    case Kind::kByteFallback:
      return decode_byte_fallback(tokens);
    case Kind::kFuse:
      tokens.join_all();
      return tokens;
    case Kind::kMetaspace:
      return decode_metaspace(tokens, step.character, step.drops_first);
    case Kind::kStrip:
      return decode_strip(tokens, step.character, step.start, step.stop);
    case Kind::kReplace: {
      TextList out;
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        out.add(replace_all(step.pattern, tokens[i], step.text));
      }
      return out;
    }
    case Kind::kBpe:
      return decode_suffix(tokens, step.text);
  }
  return tokens;
}

}  // namespace neap::text
