// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Properties of code points, by utf8proc (Unicode 15), as the libraries that
// tokenizers are trained with define them; UTF-8 forward and back.
#pragma once

#include <cstddef>
#include <string_view>

#include "neap/memory/containers.hpp"

namespace neap::text {

/// White_Space, as \s.
bool is_space(char32_t code) noexcept;
/// Alphabetic, marks, decimal digits, connectors and joiners, as \w of Unicode
/// (UTS 18).
bool is_word(char32_t code) noexcept;
/// Categories Nd, Nl, No.
bool is_numeric(char32_t code) noexcept;
/// Categories P*, and all of ASCII's that are neither letter nor digit.
bool is_punctuation(char32_t code) noexcept;
/// Categories Cc, Cf, Co.
bool is_control(char32_t code) noexcept;
/// Categories Mn, Mc, Me.
bool is_mark(char32_t code) noexcept;
/// Category Mn.
bool is_nonspacing_mark(char32_t code) noexcept;
/// The blocks that BERT takes for Chinese.
bool is_chinese(char32_t code) noexcept;

struct CodePoint {
  char32_t code = 0;
  std::size_t length = 0;  // bytes
};
/// REQUIRES: a text that is not empty, of UTF-8.
CodePoint first_code_point(std::string_view text) noexcept;
/// The last one. REQUIRES: the same.
CodePoint last_code_point(std::string_view text) noexcept;
std::size_t count_code_points(std::string_view text) noexcept;

void append_code_point(memory::String& out, char32_t code);
/// Appends `bytes` with U+FFFD in the place of what is not UTF-8, one for each
/// longest beginning of a character (as the Unicode Standard recommends).
void append_lossy(memory::String& out, std::string_view bytes);
/// In lower case, each character by itself.
void append_lower(memory::String& out, char32_t code);

enum class NormalForm { kNfc, kNfd, kNfkc, kNfkd };
/// RETURNS: the normal form of UTF-8. Time n log n. THROWS: OutOfMemory.
memory::String normal_form(std::string_view text, NormalForm form);

}  // namespace neap::text
