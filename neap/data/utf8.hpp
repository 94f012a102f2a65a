// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing beyond
// U+10FFFF. Of this room alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace neap::data {

inline constexpr char32_t kLastCodePoint = 0x10FFFF;

/// The code point at the head of a text.
struct Decoded {
  char32_t code_point = 0;
  int length = 0;  // in bytes; 0: the text ends within it; -1: not UTF-8
};

/// REQUIRES: `text` is not empty.
constexpr Decoded decode_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t head = byte(0);
  if (head < 0x80) {
    return {head, 1};
  }
  const int length = head < 0xC2   ? -1
                     : head < 0xE0 ? 2
                     : head < 0xF0 ? 3
                     : head < 0xF5 ? 4
                                   : -1;
  if (length < 0) {
    return {0, -1};
  }
  // Bounds of the second byte: they leave out overlong forms and surrogates.
  const std::uint32_t low = head == 0xE0 ? 0xA0 : head == 0xF0 ? 0x90 : 0x80;
  const std::uint32_t high = head == 0xED ? 0x9F : head == 0xF4 ? 0x8F : 0xBF;
  std::uint32_t value = head & (0x7FU >> static_cast<unsigned>(length));
  for (std::size_t i = 1; i < static_cast<std::size_t>(length); ++i) {
    if (i == text.size()) {
      return {0, 0};
    }
    const bool is_good =
        i == 1 ? byte(1) >= low && byte(1) <= high : (byte(i) & 0xC0U) == 0x80U;
    if (!is_good) {
      return {0, -1};
    }
    value = value << 6U | (byte(i) & 0x3FU);
  }
  return {value, length};
}

/// Appends a code point to any string of bytes. REQUIRES: it is one.
template <class String>
void append_utf8(String& text, char32_t code_point) {
  const auto value = static_cast<std::uint32_t>(code_point);
  const auto put = [&](std::uint32_t byte) {
    text.push_back(static_cast<char>(byte));
  };
  const auto put_rest = [&](int shift) {
    for (; shift >= 0; shift -= 6) {
      put(0x80U | (value >> static_cast<unsigned>(shift) & 0x3FU));
    }
  };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0U | value >> 6U);
    put_rest(0);
  } else if (value < 0x10000) {
    put(0xE0U | value >> 12U);
    put_rest(6);
  } else {
    put(0xF0U | value >> 18U);
    put_rest(12);
  }
}

}  // namespace neap::data
