// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/regex_syntax.hpp"

#include <algorithm>
#include <array>

#include "neap/base/shown.hpp"
#include "neap/text/refused.hpp"

namespace neap::text {
namespace {

// Members of classes, without the brackets. Oniguruma counts the fractions and
// superscripts of Latin-1 among words, and no joiners.
constexpr std::string_view kSpace =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029})"
    R"(\x{202f}\x{205f}\x{3000})";
constexpr std::string_view kNotSpace =
    R"(\x{0}-\x{8}\x{e}-\x{1f}\x{21}-\x{84}\x{86}-\x{9f}\x{a1}-\x{167f})"
    R"(\x{1681}-\x{1fff}\x{200b}-\x{2027}\x{202a}-\x{202e}\x{2030}-\x{205e})"
    R"(\x{2060}-\x{2fff}\x{3001}-\x{10ffff})";
constexpr std::string_view kWord =
    R"(\p{L}\p{M}\p{Nd}\p{Nl}\p{Pc}\x{b2}\x{b3}\x{b9}\x{bc}-\x{be})"
    R"(\x{24b6}-\x{24e9})"
    R"(\x{1f130}-\x{1f149}\x{1f150}-\x{1f169}\x{1f170}-\x{1f189})";

constexpr std::string_view kPunctuation = R"(!"#$%&'()*+,-./:;<=>?@[\]^_`{|}~)";

struct Alias {
  std::string_view name;
  std::string_view meaning;
};
constexpr std::array<Alias, 12> kLongNames = {{{"letter", "L"},
                                               {"mark", "M"},
                                               {"number", "N"},
                                               {"punctuation", "P"},
                                               {"symbol", "S"},
                                               {"separator", "Z"},
                                               {"other", "C"},
                                               {"alphabetic", "Alphabetic"},
                                               {"uppercase", "Uppercase"},
                                               {"lowercase", "Lowercase"},
                                               {"whitespace", "White_Space"},
                                               {"ideographic", "Ideographic"}}};

bool is_one_of(char c, std::string_view set) noexcept {
  return set.find(c) != std::string_view::npos;
}

class Translator {
 public:
  explicit Translator(std::string_view text) : text_(text) {}

  memory::String run() {
    while (at_ < text_.size()) {
      const char next = text_[at_];
      if (next == '\\') {
        escape(false);
      } else if (next == '[') {
        char_class();
      } else if (next == '(') {
        group();
      } else if (next == '{') {
        interval();
      } else {
        copy(1);
      }
    }
    return std::move(out_);
  }

 private:
  [[noreturn]] void refuse_at(std::string_view what) const {
    refuse(FailureKind::kUnsupported,
           "pattern '{}': {} at byte {} is not read here", base::shown(text_),
           what, at_);
  }
  void copy(std::size_t count) {
    out_.append(text_.substr(at_, count));
    at_ += std::min(count, text_.size() - at_);
  }
  void put(std::string_view written, std::size_t read) {
    out_.append(written);
    at_ += read;
  }
  std::string_view rest() const { return text_.substr(at_); }

  // A set in a class, or as a class of its own. Before a hyphen it would begin
  // a range.
  void put_set(std::string_view members, bool is_negated, bool is_inside) {
    if (is_inside && is_negated) {
      refuse_at("a negated set within a class");
    }
    at_ += 2;
    if (!is_inside) {
      out_.append(is_negated ? "[^" : "[");
    }
    out_.append(members);
    if (!is_inside) {
      out_.push_back(']');
    } else if (rest().starts_with('-') && !rest().starts_with("-]")) {
      refuse_at("a range that begins with a set");
    }
  }

  void escape(bool is_inside) {
    if (at_ + 1 == text_.size()) {
      refuse_at("a backslash at the end");
    }
    const char kind = text_[at_ + 1];
    switch (kind) {
      case 's':
        return put_set(kSpace, false, is_inside);
      case 'S':
        return is_inside ? put_set(kNotSpace, false, true)
                         : put_set(kSpace, true, false);
      case 'w':
      case 'W':
        return put_set(kWord, kind == 'W', is_inside);
      case 'd':
      case 'D':
        return put_set(kind == 'd' ? R"(\p{Nd})" : R"(\P{Nd})", false,
                       is_inside);
      case 'p':
      case 'P':
        return property();
      case 'b':
      case 'B':
        return boundary(kind == 'B', is_inside);
      case 'v':
        return put("\\x{b}", 2);
      case 'x':
      case 'u':
        return number(kind == 'u');
      default:
        break;
    }
    const bool is_place = is_one_of(kind, "Az") && !is_inside;
    if (!is_place && !is_one_of(kind, "rntfea") &&
        !is_one_of(kind, kPunctuation)) {
      refuse_at("this escape");
    }
    copy(2);
  }

  void boundary(bool is_none, bool is_inside) {
    if (is_inside) {
      refuse_at("this escape within a class");
    }
    at_ += 2;
    const auto side = [&](std::string_view look) {
      out_.append(look);
      out_.append("[").append(kWord).append("])");
    };
    out_.append("(?:");
    side("(?<=");
    side(is_none ? "(?=" : "(?!");
    out_.append("|");
    side("(?<!");
    side(is_none ? "(?!" : "(?=");
    out_.append(")");
  }

  // \xHH, \x{H...}, \uHHHH.
  void number(bool is_four) {
    constexpr std::string_view kHex = "0123456789abcdefABCDEF";
    const bool is_braced = !is_four && rest().substr(2).starts_with('{');
    const std::size_t from = is_braced ? 3 : 2;
    const std::size_t count = std::min(
        rest().substr(from).find_first_not_of(kHex), rest().size() - from);
    const std::size_t digits = is_braced ? count : is_four ? 4 : 2;
    if (count < digits || digits == 0 || digits > 6 ||
        (is_braced && !rest().substr(from + digits).starts_with('}'))) {
      refuse_at("this number of a character");
    }
    out_.append("\\x{").append(rest().substr(from, digits)).append("}");
    at_ += from + digits + (is_braced ? 1 : 0);
  }

  // Categories mean the same in both. PCRE2 takes the name of a script for its
  // extensions, too, unless told otherwise.
  void property() {
    const std::size_t end = rest().find('}');
    if (!rest().substr(2).starts_with('{') || end == std::string_view::npos) {
      refuse_at("this property");
    }
    bool is_negated = text_[at_ + 1] == 'P';
    std::string_view name = rest().substr(3, end - 3);
    if (name.starts_with('^')) {
      is_negated = !is_negated;
      name.remove_prefix(1);
    }
    constexpr std::string_view kOfNames = "_";
    const bool is_name =
        !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
          return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                 is_one_of(c, kOfNames);
        });
    if (!is_name) {
      refuse_at("this property");
    }
    out_.append(is_negated ? "\\P{" : "\\p{");
    memory::String plain;
    for (const char c : name) {
      if (c != '_') {
        plain.push_back(c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c);
      }
    }
    const auto* alias =
        std::find_if(kLongNames.begin(), kLongNames.end(),
                     [&](const Alias& known) { return known.name == plain; });
    if (alias != kLongNames.end()) {
      out_.append(alias->meaning);
    } else if (name.size() <= 2) {
      out_.append(name);
    } else {
      out_.append("sc:").append(name);
    }
    out_.push_back('}');
    at_ += end + 1;
  }

  void char_class() {
    copy(1);
    if (rest().starts_with('^')) {
      copy(1);
    }
    if (rest().starts_with(']')) {
      refuse_at("a class that is empty or begins with ']'");
    }
    while (at_ < text_.size() && text_[at_] != ']') {
      if (text_[at_] == '\\') {
        escape(true);
      } else if (text_[at_] == '[') {
        refuse_at("a class within a class");
      } else if (rest().starts_with("&&")) {
        refuse_at("an intersection of classes");
      } else {
        copy(1);
      }
    }
    if (at_ == text_.size()) {
      refuse_at("a class without an end");
    }
    copy(1);
  }

  void group() {
    if (!rest().starts_with("(?")) {
      return put("(?:", 1);  // nobody asks what a group holds
    }
    for (const std::string_view known :
         {"(?:", "(?=", "(?!", "(?>", "(?<=", "(?<!", "(?i:", "(?-i:"}) {
      if (rest().starts_with(known)) {
        return copy(known.size());
      }
    }
    if (at_ == 0 && rest().starts_with("(?i)")) {
      return copy(4);
    }
    refuse_at("this kind of group");
  }

  void interval() {
    const std::size_t end = rest().find('}');
    const std::string_view inside =
        rest().substr(1, end == std::string_view::npos ? 0 : end - 1);
    const bool is_interval =
        !inside.empty() &&
        inside.find_first_not_of("0123456789,") == std::string_view::npos &&
        std::count(inside.begin(), inside.end(), ',') <= 1 && inside != ",";
    if (!is_interval) {
      return put("\\{", 1);
    }
    const std::string_view after = rest().substr(end + 1);
    const bool is_exact = inside.find(',') == std::string_view::npos;
    if (after.starts_with('+') || (is_exact && after.starts_with('?'))) {
      refuse_at("a repeated repetition");
    }
    if (inside.starts_with(',')) {
      out_.append("{0").append(inside).append("}");
      at_ += end + 1;
      return;
    }
    copy(end + 1);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  memory::String out_;
};

}  // namespace

memory::String pcre_pattern(std::string_view onig) {
  return Translator(onig).run();
}

memory::String literal_pattern(std::string_view text) {
  memory::String out;
  for (const char c : text) {
    if (is_one_of(c, kPunctuation)) {
      out.push_back('\\');
    }
    out.push_back(c);
  }
  return out;
}

}  // namespace neap::text
