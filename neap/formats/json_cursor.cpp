// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/formats/json_cursor.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include "neap/base/utf8.hpp"

namespace neap::formats {
namespace {

constexpr unsigned char kFirstPrintable = 0x20;
constexpr std::uint32_t kFirstHighSurrogate = 0xD800;
constexpr std::uint32_t kFirstLowSurrogate = 0xDC00;
constexpr std::uint32_t kLastSurrogate = 0xDFFF;
constexpr std::uint32_t kFirstPaired = 0x10000;

unsigned char byte_at(std::string_view text, std::size_t at) noexcept {
  return static_cast<unsigned char>(text[at]);
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

void append_code_point(memory::String& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t bits) {
    out.push_back(static_cast<char>(bits));
  };
  if (code < 0x80) {
    put(code);
    return;
  }
  if (code < 0x800) {
    put(0xC0 | code >> 6U);
  } else {
    if (code < kFirstPaired) {
      put(0xE0 | code >> 12U);
    } else {
      put(0xF0 | code >> 18U);
      put(0x80 | (code >> 12U & 0x3F));
    }
    put(0x80 | (code >> 6U & 0x3F));
  }
  put(0x80 | (code & 0x3F));
}

}  // namespace

bool is_utf8(std::string_view text) noexcept {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t count = base::first_utf8(text.substr(at)).length;
    if (count == 0) {
      return false;
    }
    at += count;
  }
  return true;
}

bool JsonCursor::fail(std::string_view fault) noexcept {
  if (is_good()) {
    fault_ = fault;
  }
  return false;
}

void JsonCursor::skip_space() noexcept {
  constexpr std::string_view kSpace = " \t\n\r";
  while (at_ < text_.size() &&
         kSpace.find(text_[at_]) != std::string_view::npos) {
    ++at_;
  }
}

bool JsonCursor::accept(char token) noexcept {
  if (!is_good()) {
    return false;
  }
  skip_space();
  if (at_ == text_.size() || text_[at_] != token) {
    return false;
  }
  ++at_;
  return true;
}

bool JsonCursor::expect(char token) noexcept {
  if (accept(token)) {
    return true;
  }
  switch (token) {
    case '{':
      return fail("expected '{'");
    case '}':
      return fail("expected ',' or '}'");
    case '[':
      return fail("expected '['");
    case ']':
      return fail("expected ',' or ']'");
    case ':':
      return fail("expected ':'");
    case ',':
      return fail("expected ','");
    case '"':
      return fail("expected a string");
    default:
      return fail("expected something else");
  }
}

bool JsonCursor::string(memory::String& out) {
  if (!expect('"')) {
    return false;
  }
  out.clear();
  while (at_ < text_.size()) {
    const char next = text_[at_];
    if (next == '"') {
      ++at_;
      return true;
    }
    if (next == '\\') {
      if (!escape(out)) {
        return false;
      }
      continue;
    }
    if (byte_at(text_, at_) < kFirstPrintable) {
      return fail("a control character in a string");
    }
    const std::size_t count = base::first_utf8(text_.substr(at_)).length;
    if (count == 0) {
      return fail("not UTF-8");
    }
    out.append(text_.substr(at_, count));
    at_ += count;
  }
  return fail("a string without an end");
}

bool JsonCursor::escape(memory::String& out) {
  ++at_;
  if (at_ == text_.size()) {
    return fail("a string without an end");
  }
  constexpr std::string_view kEscapes = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  const char kind = text_[at_];
  if (kind == 'u') {
    ++at_;
    std::uint32_t code = 0;
    if (!escaped_code_point(code)) {
      return false;
    }
    append_code_point(out, code);
    return true;
  }
  const std::size_t known = kEscapes.find(kind);
  if (known == std::string_view::npos) {
    return fail("an unknown escape");
  }
  out.push_back(kMeanings[known]);
  ++at_;
  return true;
}

bool JsonCursor::hex_digits(std::uint32_t& out) noexcept {
  constexpr std::size_t kDigits = 4;
  const std::string_view digits = text_.substr(at_, kDigits);
  const char* const end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, out, 16);
  if (digits.size() != kDigits || stop != end || error != std::errc()) {
    return fail("an escape without four hexadecimal digits");
  }
  at_ += kDigits;
  return true;
}

bool JsonCursor::escaped_code_point(std::uint32_t& out) noexcept {
  if (!hex_digits(out)) {
    return false;
  }
  if (out < kFirstHighSurrogate || out > kLastSurrogate) {
    return true;
  }
  std::uint32_t low = 0;
  if (out >= kFirstLowSurrogate || text_.substr(at_, 2) != "\\u") {
    return fail("an unpaired surrogate");
  }
  at_ += 2;
  if (!hex_digits(low)) {
    return false;
  }
  if (low < kFirstLowSurrogate || low > kLastSurrogate) {
    return fail("an unpaired surrogate");
  }
  out = kFirstPaired + ((out - kFirstHighSurrogate) << 10U) +
        (low - kFirstLowSurrogate);
  return true;
}

bool JsonCursor::number(std::int64_t& out) noexcept {
  if (!is_good()) {
    return false;
  }
  skip_space();
  const std::string_view rest = text_.substr(at_);
  if (rest.empty() || !is_digit(rest.front())) {
    return fail("expected a whole number that is not negative");
  }
  std::int64_t value = 0;
  const auto [end, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), value);
  const auto count = static_cast<std::size_t>(end - rest.data());
  if (error != std::errc()) {
    return fail("a number beyond 63 bits");
  }
  if (count > 1 && rest.front() == '0') {
    return fail("a number that begins with 0");
  }
  if (count < rest.size() &&
      std::string_view(".eE").find(rest[count]) != std::string_view::npos) {
    return fail("a number that is not whole");
  }
  at_ += count;
  out = value;
  return true;
}

bool JsonCursor::integer(std::int64_t& out) noexcept {
  const bool is_negative = accept('-');
  if (is_negative && at_ < text_.size() && !is_digit(text_[at_])) {
    return fail("expected a whole number");
  }
  if (!number(out)) {
    return false;
  }
  out = is_negative ? -out : out;
  return true;
}

bool JsonCursor::accept_word(std::string_view word) noexcept {
  if (!is_good()) {
    return false;
  }
  skip_space();
  if (text_.substr(at_, word.size()) != word) {
    return false;
  }
  at_ += word.size();
  return true;
}

bool JsonCursor::boolean(bool& out) noexcept {
  const bool is_true = accept_word("true");
  if (!is_true && !accept_word("false")) {
    return fail("expected true or false");
  }
  out = is_true;
  return true;
}

// A string, a literal, or a number of any form.
bool JsonCursor::skip_scalar(memory::String& scratch) {
  skip_space();
  if (at_ < text_.size() && text_[at_] == '"') {
    return string(scratch);
  }
  if (accept_word("true") || accept_word("false") || accept_word("null")) {
    return true;
  }
  const std::size_t end = text_.find_first_not_of("+-.0123456789eE", at_);
  const std::size_t count = std::min(end, text_.size()) - at_;
  at_ += count;
  return count != 0 || fail("expected a value");
}

bool JsonCursor::skip() {
  constexpr int kMostLevels = 64;
  memory::String scratch;
  std::uint64_t objects = 0;  // bit 0: the innermost bracket is an object's
  int level = 0;
  do {
    const bool is_object = accept('{');
    if (is_object || accept('[')) {
      if (level == kMostLevels) {
        return fail("more than 64 levels");
      }
      objects = objects << 1U | (is_object ? 1U : 0U);
      ++level;
    } else if (level > 0 && accept((objects & 1U) != 0 ? '}' : ']')) {
      objects >>= 1U;
      --level;
    } else if (!(level > 0 && (accept(',') || accept(':'))) &&
               !skip_scalar(scratch)) {
      return false;
    }
  } while (level > 0);
  return true;
}

bool JsonCursor::finish() noexcept {
  if (!is_good()) {
    return false;
  }
  skip_space();
  return at_ == text_.size() || fail("text after the end");
}

}  // namespace neap::formats
