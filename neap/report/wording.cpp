// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/wording.hpp"

#include "neap/base/json_string.hpp"
#include "neap/base/shown.hpp"
#include "neap/base/utf8.hpp"

namespace neap::report {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD

// The bytes of the character that the text begins with; 0 where it begins with
// none, or with one of the two that XML refuses (U+FFFE, U+FFFF). REQUIRES: a
// text that is not empty.
std::size_t character_bytes(std::string_view text) noexcept {
  const base::Utf8Character first = base::first_utf8(text);
  return first.code == 0xFFFE || first.code == 0xFFFF ? 0 : first.length;
}

// Calls put(character) for each; a byte that is none gives U+FFFD.
template <class Put>
void for_characters(std::string_view text, const Put& put) {
  while (!text.empty()) {
    const std::size_t bytes = character_bytes(text);
    put(bytes == 0 ? kReplacement : text.substr(0, bytes));
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
}

bool is_control(std::string_view character) noexcept {
  const auto byte = static_cast<unsigned char>(character.front());
  return byte < 0x20U || byte == 0x7FU;
}

// The entity of a character that is markup in XML and HTML; of others empty.
std::string_view entity_of(char c) noexcept {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

void append_utf8(memory::String& out, std::string_view text) {
  while (!text.empty()) {
    std::size_t good = 0;  // bytes of whole characters
    for (std::size_t bytes = 1; bytes != 0 && good < text.size();) {
      bytes = character_bytes(text.substr(good));
      good += bytes;
    }
    out += text.substr(0, good);
    text.remove_prefix(good);
    if (!text.empty()) {
      out += kReplacement;
      text.remove_prefix(1);
    }
  }
}

void append_json(memory::String& out, std::string_view text) {
  memory::String clean;
  append_utf8(clean, text);
  base::append_json_string(out, clean);
}

void append_xml(memory::String& out, std::string_view text) {
  for_characters(text, [&](std::string_view c) {
    const std::string_view entity = entity_of(c.front());
    out += is_control(c) ? std::string_view(" ") : entity.empty() ? c : entity;
  });
}

void append_markdown(memory::String& out, std::string_view text) {
  constexpr std::string_view kMarkup = "\\`*_[]|~#!:";
  for_characters(text, [&](std::string_view c) {
    if (c == "@") {
      out += "&#64;";  // a name after it is nobody's
    } else if (c == "<" || c == ">" || c == "&") {
      out += entity_of(c.front());
    } else {
      out += kMarkup.find(c) != std::string_view::npos ? "\\" : "";
      out += is_control(c) ? " " : c;
    }
  });
}

void append_frame(memory::String& out, std::string_view text) {
  if (text.empty()) {
    out += "(none)";
  }
  for_characters(text, [&](std::string_view c) {
    out += is_control(c) ? " " : c == ";" ? "," : c;
  });
}

memory::String fit_name(std::string_view text, std::size_t width) {
  constexpr std::string_view kCut = "...";
  constexpr std::size_t kMost = 4096;
  const std::string whole = base::shown(text, kMost);
  memory::String out;
  if (whole.size() <= width) {
    out += whole;
    return out;
  }
  const std::size_t kept = width - kCut.size();
  std::size_t head = kept - kept / 2;
  std::size_t tail = whole.size() - kept / 2;
  while (base::is_utf8_tail(whole[head])) {
    --head;
  }
  while (tail < whole.size() && base::is_utf8_tail(whole[tail])) {
    ++tail;
  }
  out.append(whole, 0, head);
  out += kCut;
  out.append(whole, tail, std::string::npos);
  return out;
}

memory::String signed_grouped(Bytes bytes, bool is_change) {
  memory::String out(is_change && bytes > 0 ? "+" : "");
  out += format_grouped(bytes);
  return out;
}

memory::String signed_short(Bytes bytes, bool is_change) {
  memory::String out(is_change && bytes > 0 ? "+" : "");
  out += format_bytes_short(bytes);
  return out;
}

}  // namespace neap::report
