// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Characters of UTF-8, well formed by RFC 3629: shortest forms, no surrogates,
// up to U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace neap::base {

struct Utf8Character {
  std::size_t length = 0;  // bytes; 0: those there are no character
  std::uint32_t code = 0;
};

/// The character that a text begins with. REQUIRES: a text that is not empty.
Utf8Character first_utf8(std::string_view text) noexcept;

/// True for a byte within a character, not its first.
constexpr bool is_utf8_tail(char byte) noexcept {
  return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80U;
}

}  // namespace neap::base
