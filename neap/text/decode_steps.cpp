// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/decode_steps.hpp"

#include <array>
#include <charconv>
#include <utility>

#include "neap/formats/json_cursor.hpp"
#include "neap/text/byte_level.hpp"
#include "neap/text/unicode.hpp"

namespace neap::text {
namespace {

memory::String replaced(std::string_view text, std::string_view what,
                        std::string_view by) {
  memory::String out;
  if (what.empty()) {
    return memory::String(text);
  }
  std::size_t at = 0;
  for (std::size_t found = text.find(what); found != std::string_view::npos;
       found = text.find(what, at)) {
    out.append(text.substr(at, found - at)).append(by);
    at = found + what.size();
  }
  out.append(text.substr(at));
  return out;
}

// Spaces that English does not have.
memory::String cleaned(memory::String text) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11>
      kPairs = {{{" .", "."},
                 {" ?", "?"},
                 {" !", "!"},
                 {" ,", ","},
                 {" ' ", "'"},
                 {" n't", "n't"},
                 {" 'm", "'m"},
                 {" do not", " don't"},
                 {" 's", "'s"},
                 {" 've", "'ve"},
                 {" 're", "'re"}}};
  for (const auto& [what, by] : kPairs) {
    if (std::string_view(text).find(what) != std::string_view::npos) {
      text = replaced(text, what, by);
    }
  }
  return text;
}

// The byte of "<0xAB>"; -1: the token is none.
int byte_of_token(std::string_view token) noexcept {
  constexpr std::size_t kSize = 6;
  if (token.size() != kSize || !token.starts_with("<0x") ||
      !token.ends_with('>')) {
    return -1;
  }
  int byte = 0;
  const char* const end = token.data() + kSize - 1;
  const auto [stop, error] = std::from_chars(token.data() + 3, end, byte, 16);
  return stop == end && error == std::errc() && byte >= 0 ? byte : -1;
}

}  // namespace

// The bytes of all tokens; a token with a character that is no byte's stands
// for itself.
TextList decode_byte_level(const TextList& tokens) {
  memory::String bytes;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i];
    const std::size_t before = bytes.size();
    for (std::size_t at = 0; at < token.size();) {
      const CodePoint point = first_code_point(token.substr(at));
      const int byte = byte_of_character(point.code);
      if (byte < 0) {
        bytes.resize(before);
        bytes.append(token);
        break;
      }
      bytes.push_back(static_cast<char>(byte));
      at += point.length;
    }
  }
  TextList out;
  append_lossy(out.bytes(), bytes);
  out.end();
  return out;
}

TextList decode_byte_fallback(const TextList& tokens) {
  TextList out;
  memory::String bytes;
  const auto flush = [&] {
    if (formats::is_utf8(bytes)) {
      if (!bytes.empty()) {
        out.add(bytes);
      }
    } else {
      for (std::size_t i = 0; i < bytes.size(); ++i) {
        out.add("\xEF\xBF\xBD");
      }
    }
    bytes.clear();
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const int byte = byte_of_token(tokens[i]);
    if (byte >= 0) {
      bytes.push_back(static_cast<char>(byte));
      continue;
    }
    flush();
    out.add(tokens[i]);
  }
  flush();
  return out;
}

TextList decode_word_piece(const TextList& tokens, std::string_view prefix,
                           bool is_cleaned) {
  TextList out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    memory::String text(tokens[i]);
    if (i > 0) {
      if (tokens[i].starts_with(prefix)) {
        text.erase(0, prefix.size());
      } else {
        text.insert(text.begin(), ' ');
      }
    }
    out.add(is_cleaned ? cleaned(std::move(text)) : text);
  }
  return out;
}

TextList decode_metaspace(const TextList& tokens, char32_t replacement,
                          bool drops_first) {
  TextList out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i];
    for (std::size_t at = 0; at < token.size();) {
      const CodePoint point = first_code_point(token.substr(at));
      if (point.code != replacement) {
        out.bytes().append(token.substr(at, point.length));
      } else if (i > 0 || !drops_first) {
        out.bytes().push_back(' ');
      }
      at += point.length;
    }
    out.end();
  }
  return out;
}

TextList decode_strip(const TextList& tokens, char32_t content,
                      std::int64_t start, std::int64_t stop) {
  TextList out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::string_view text = tokens[i];
    for (std::int64_t left = start; left > 0 && !text.empty(); --left) {
      const CodePoint first = first_code_point(text);
      if (first.code != content) {
        break;
      }
      text.remove_prefix(first.length);
    }
    for (std::int64_t left = stop; left > 0 && !text.empty(); --left) {
      const CodePoint last = last_code_point(text);
      if (last.code != content) {
        break;
      }
      text.remove_suffix(last.length);
    }
    out.add(text);
  }
  return out;
}

TextList decode_suffix(const TextList& tokens, std::string_view suffix) {
  TextList out;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    out.add(replaced(tokens[i], suffix, i + 1 == tokens.size() ? "" : " "));
  }
  return out;
}

}  // namespace neap::text
