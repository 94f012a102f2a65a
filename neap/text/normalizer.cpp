// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/normalizer.hpp"

#include <optional>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/refused.hpp"

namespace neap::text {
namespace {

template <class Each>
void for_each_point(std::string_view text, const Each& each) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    each(point.code);
    at += point.length;
  }
}

std::string_view stripped(std::string_view text, bool left, bool right) {
  while (left && !text.empty()) {
    const CodePoint first = first_code_point(text);
    if (!is_space(first.code)) {
      break;
    }
    text.remove_prefix(first.length);
  }
  while (right && !text.empty()) {
    const CodePoint last = last_code_point(text);
    if (!is_space(last.code)) {
      break;
    }
    text.remove_suffix(last.length);
  }
  return text;
}

/// The text without the characters that `is_gone` is true of.
memory::String without(std::string_view text, bool (*is_gone)(char32_t)) {
  memory::String out;
  for_each_point(text, [&](char32_t code) {
    if (!is_gone(code)) {
      append_code_point(out, code);
    }
  });
  return out;
}

memory::String lowered(std::string_view text) {
  memory::String out;
  out.reserve(text.size());
  for_each_point(text, [&](char32_t code) { append_lower(out, code); });
  return out;
}

bool is_plain_space(char32_t code) noexcept {
  return code == U'\t' || code == U'\n' || code == U'\r';
}

}  // namespace

Pattern read_pattern(JsonValue json) {
  std::optional<Pattern> made;
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "String") {
      made = Pattern::of_literal(value.string());
    } else if (key == "Regex") {
      made = Pattern::of_regex(value.string());
    } else {
      refuse(FailureKind::kUnsupported,
             "pattern: '{}' is neither String nor Regex", base::shown(key));
    }
  });
  if (!made) {
    refuse(FailureKind::kCorrupt, "pattern: it is empty");
  }
  return std::move(*made);
}

memory::String replace_all(const Pattern& pattern, std::string_view text,
                           std::string_view by) {
  memory::String out;
  if (text.empty()) {
    return out;
  }
  out.reserve(text.size());
  Search search(pattern);
  search.start(text);
  std::size_t at = 0;
  for (Match match; search.next(match); at = match.end) {
    out.append(text.substr(at, match.begin - at));
    out.append(by);
  }
  out.append(text.substr(at));
  return out;
}

Normalizer Normalizer::read(JsonValue json) {
  Normalizer made;
  if (!json.is_null()) {
    read_parts(json, 0, made);
  }
  return made;
}

void Normalizer::read_parts(JsonValue json, int level, Normalizer& into) {
  const memory::String type = json.type();
  if (type != "Sequence") {
    into.steps_.push_back(read_step(json, type));
    return;
  }
  if (level == kMostLevels) {
    refuse(FailureKind::kUnsupported, "normalizer: more than {} levels",
           kMostLevels);
  }
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "normalizers") {
      value.elements(
          [&](JsonValue part) { read_parts(part, level + 1, into); });
    } else if (key != "type") {
      json.refuse_member(key);
    }
  });
  check_steps(into.steps_.size(), "normalizer");
}

Normalizer::Step Normalizer::read_step(JsonValue json, std::string_view type) {
  constexpr std::array<std::pair<std::string_view, NormalForm>, 4> kForms = {
      {{"NFC", NormalForm::kNfc},
       {"NFD", NormalForm::kNfd},
       {"NFKC", NormalForm::kNfkc},
       {"NFKD", NormalForm::kNfkd}}};
  constexpr std::array<std::pair<std::string_view, Kind>, 6> kKinds = {
      {{"Lowercase", Kind::kLowercase},
       {"StripAccents", Kind::kStripAccents},
       {"Strip", Kind::kStrip},
       {"Replace", Kind::kReplace},
       {"Prepend", Kind::kPrepend},
       {"BertNormalizer", Kind::kBert}}};
  Step step;
  bool is_known = false;
  for (const auto& [name, form] : kForms) {
    if (type == name) {
      step.form = form;
      is_known = true;
    }
  }
  for (const auto& [name, kind] : kKinds) {
    if (type == name) {
      step.kind = kind;
      is_known = true;
    }
  }
  if (!is_known) {
    refuse(FailureKind::kUnsupported, "normalizer '{}' is not read here",
           base::shown(type));
  }
  if (step.kind == Kind::kBert) {
    read_bert(json, step);
    return step;
  }
  bool has_pattern = false;
  json.members([&](std::string_view key, JsonValue value) {
    if (step.kind == Kind::kStrip && key == "strip_left") {
      step.strips_left = value.boolean();
    } else if (step.kind == Kind::kStrip && key == "strip_right") {
      step.strips_right = value.boolean();
    } else if (step.kind == Kind::kReplace && key == "pattern") {
      step.pattern = read_pattern(value);
      has_pattern = true;
    } else if ((step.kind == Kind::kReplace && key == "content") ||
               (step.kind == Kind::kPrepend && key == "prepend")) {
      step.text = value.string();
    } else if (key != "type") {
      json.refuse_member(key);
    }
  });
  if (step.kind == Kind::kReplace && !has_pattern) {
    refuse(FailureKind::kCorrupt, "normalizer Replace: it has no pattern");
  }
  return step;
}

void Normalizer::read_bert(JsonValue json, Step& step) {
  std::optional<bool> strips_accents;
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "clean_text") {
      step.cleans = value.boolean();
    } else if (key == "handle_chinese_chars") {
      step.spaces_chinese = value.boolean();
    } else if (key == "strip_accents") {
      if (!value.is_null()) {
        strips_accents = value.boolean();
      }
    } else if (key == "lowercase") {
      step.lowers = value.boolean();
    } else if (key != "type") {
      json.refuse_member(key);
    }
  });
  step.strips_accents = strips_accents.value_or(step.lowers);
}

memory::String Normalizer::apply(std::string_view text) const {
  memory::String out(text);
  for (const Step& step : steps_) {
    out = apply(step, out);
  }
  return out;
}

memory::String Normalizer::apply(const Step& step, std::string_view text) {
  switch (step.kind) {
    case Kind::kForm:
      return normal_form(text, step.form);
    case Kind::kLowercase:
      return lowered(text);
    case Kind::kStripAccents:
      return without(text, is_mark);
    case Kind::kStrip:
      return memory::String(
          stripped(text, step.strips_left, step.strips_right));
    case Kind::kReplace:
      return replace_all(step.pattern, text, step.text);
    case Kind::kPrepend: {
      memory::String out(text.empty() ? std::string_view()
                                      : std::string_view(step.text));
      out.append(text);
      return out;
    }
    case Kind::kBert:
      return apply_bert(step, text);
  }
  return memory::String(text);
}

memory::String Normalizer::apply_bert(const Step& step, std::string_view text) {
  constexpr char32_t kReplacement = 0xFFFD;
  memory::String out;
  out.reserve(text.size());
  for_each_point(text, [&](char32_t code) {
    if (step.cleans) {
      const bool is_gone = code == 0 || code == kReplacement ||
                           (!is_plain_space(code) && is_control(code));
      if (is_gone) {
        return;
      }
      if (is_space(code)) {
        code = U' ';
      }
    }
    const bool is_spaced = step.spaces_chinese && is_chinese(code);
    if (is_spaced) {
      out.push_back(' ');
    }
    append_code_point(out, code);
    if (is_spaced) {
      out.push_back(' ');
    }
  });
  if (step.strips_accents) {
    out = without(normal_form(out, NormalForm::kNfd), is_nonspacing_mark);
  }
  return step.lowers ? lowered(out) : out;
}

}  // namespace neap::text
