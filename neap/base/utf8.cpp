// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/utf8.hpp"

#include <array>

namespace neap::base {

Utf8Character first_utf8(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(text[i]));
  };
  const std::uint32_t first = byte(0);
  if (first < 0x80) {
    return {1, first};
  }
  const std::size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  if (first < 0xC2 || first > 0xF4 || text.size() < length) {
    return {};
  }
  std::uint32_t code = first & (0x7FU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_utf8_tail(text[i])) {
      return {};
    }
    code = code << 6U | (byte(i) & 0x3FU);
  }
  const bool is_surrogate = code >= 0xD800 && code <= 0xDFFF;
  return code < kLeast[length] || code > 0x10FFFF || is_surrogate
             ? Utf8Character{}
             : Utf8Character{length, code};
}

}  // namespace neap::base
