// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/byte_level.hpp"

#include <array>

#include "neap/text/unicode.hpp"

namespace neap::text {
namespace {

constexpr int kBytes = 256;
constexpr char32_t kFirstOther = 0x100;

constexpr bool is_itself(int byte) noexcept {
  return (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) ||
         (byte >= 0xAE && byte <= 0xFF);
}

constexpr std::array<char32_t, kBytes> kCharacters = [] {
  std::array<char32_t, kBytes> all{};
  char32_t other = kFirstOther;
  for (int byte = 0; byte < kBytes; ++byte) {
    all[static_cast<std::size_t>(byte)] =
        is_itself(byte) ? static_cast<char32_t>(byte) : other++;
  }
  return all;
}();

// Bytes of U+0000 to U+0143; -1: none.
constexpr std::array<std::int16_t, 2 * kBytes> kByteOf = [] {
  std::array<std::int16_t, 2 * kBytes> all{};
  all.fill(-1);
  for (std::size_t byte = 0; byte < kCharacters.size(); ++byte) {
    all[kCharacters[byte]] = static_cast<std::int16_t>(byte);
  }
  return all;
}();

}  // namespace

char32_t character_of_byte(unsigned char byte) noexcept {
  return kCharacters[byte];
}

int byte_of_character(char32_t code) noexcept {
  return code < kByteOf.size() ? kByteOf[code] : -1;
}

void append_bytes_as_characters(memory::String& out, std::string_view bytes) {
  for (const char byte : bytes) {
    append_code_point(out, character_of_byte(static_cast<unsigned char>(byte)));
  }
}

}  // namespace neap::text
