// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The characters that byte-level models write bytes as: printable ones of
// Latin-1 for themselves, the rest from U+0100 on (as GPT-2 has it).
#pragma once

#include <string_view>

#include "neap/memory/containers.hpp"

namespace neap::text {

/// The pattern by which GPT-2 splits words, in Oniguruma's syntax.
inline constexpr std::string_view kByteLevelPattern =
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|)"
    R"(\s+(?!\S)|\s+)";

/// The character of a byte.
char32_t character_of_byte(unsigned char byte) noexcept;
/// The byte of a character; -1: it is none's.
int byte_of_character(char32_t code) noexcept;
/// Appends the characters of all bytes.
void append_bytes_as_characters(memory::String& out, std::string_view bytes);

}  // namespace neap::text
