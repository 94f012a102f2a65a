// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/unicode.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>

#include "neap/base/error.hpp"
#include "neap/base/utf8.hpp"

namespace neap::text {
namespace {

constexpr char32_t kDottedCapitalI = 0x130;
constexpr char32_t kCombiningDot = 0x307;
constexpr char32_t kReplacement = 0xFFFD;

struct Range {
  char32_t first;
  char32_t last;
};

template <std::size_t count>
bool is_in(const std::array<Range, count>& ranges, char32_t code) noexcept {
  return std::any_of(ranges.begin(), ranges.end(), [&](const Range& range) {
    return code >= range.first && code <= range.last;
  });
}

utf8proc_category_t category_of(char32_t code) noexcept {
  return utf8proc_category(static_cast<utf8proc_int32_t>(code));
}

bool is_ascii(char32_t code) noexcept {
  return code < 0x80;
}

bool is_ascii_letter(char32_t code) noexcept {
  return (code >= U'a' && code <= U'z') || (code >= U'A' && code <= U'Z');
}

bool is_ascii_digit(char32_t code) noexcept {
  return code >= U'0' && code <= U'9';
}

// Bytes of the longest beginning of a character that `bytes` opens with.
std::size_t broken_length(std::string_view bytes) noexcept {
  const auto byte = [&](std::size_t i) {
    return static_cast<unsigned>(static_cast<unsigned char>(bytes[i]));
  };
  const unsigned head = byte(0);
  const std::size_t length = head < 0xC2   ? 1
                             : head < 0xE0 ? 2
                             : head < 0xF0 ? 3
                             : head < 0xF5 ? 4
                                           : 1;
  const unsigned low = head == 0xE0 ? 0xA0 : head == 0xF0 ? 0x90 : 0x80;
  const unsigned high = head == 0xED ? 0x9F : head == 0xF4 ? 0x8F : 0xBF;
  std::size_t at = 1;
  while (at < std::min(length, bytes.size()) &&
         (at == 1 ? byte(1) >= low && byte(1) <= high
                  : base::is_utf8_tail(bytes[at]))) {
    ++at;
  }
  return at;
}

}  // namespace

bool is_space(char32_t code) noexcept {
  constexpr std::array<Range, 9> kRanges = {{{0x09, 0x0D},
                                             {0x20, 0x20},
                                             {0x85, 0x85},
                                             {0xA0, 0xA0},
                                             {0x1680, 0x1680},
                                             {0x2000, 0x200A},
                                             {0x2028, 0x2029},
                                             {0x202F, 0x202F},
                                             {0x205F, 0x205F}}};
  return is_in(kRanges, code) || code == 0x3000;
}

bool is_word(char32_t code) noexcept {
  if (is_ascii(code)) {
    return is_ascii_letter(code) || is_ascii_digit(code) || code == U'_';
  }
  // Joiners, and symbols that are Alphabetic: letters in circles and squares.
  constexpr std::array<Range, 5> kOther = {{{0x200C, 0x200D},
                                            {0x24B6, 0x24E9},
                                            {0x1F130, 0x1F149},
                                            {0x1F150, 0x1F169},
                                            {0x1F170, 0x1F189}}};
  const utf8proc_category_t category = category_of(code);
  return (category >= UTF8PROC_CATEGORY_LU &&
          category <= UTF8PROC_CATEGORY_NL) ||
         category == UTF8PROC_CATEGORY_PC || is_in(kOther, code);
}

bool is_numeric(char32_t code) noexcept {
  if (is_ascii(code)) {
    return is_ascii_digit(code);
  }
  const utf8proc_category_t category = category_of(code);
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

bool is_punctuation(char32_t code) noexcept {
  if (is_ascii(code)) {
    return code > U' ' && code < 0x7F && !is_ascii_letter(code) &&
           !is_ascii_digit(code);
  }
  const utf8proc_category_t category = category_of(code);
  return category >= UTF8PROC_CATEGORY_PC && category <= UTF8PROC_CATEGORY_PO;
}

bool is_control(char32_t code) noexcept {
  const utf8proc_category_t category = category_of(code);
  return category == UTF8PROC_CATEGORY_CC || category == UTF8PROC_CATEGORY_CF ||
         category == UTF8PROC_CATEGORY_CO;
}

bool is_mark(char32_t code) noexcept {
  const utf8proc_category_t category = category_of(code);
  return category >= UTF8PROC_CATEGORY_MN && category <= UTF8PROC_CATEGORY_ME;
}

bool is_nonspacing_mark(char32_t code) noexcept {
  return category_of(code) == UTF8PROC_CATEGORY_MN;
}

bool is_chinese(char32_t code) noexcept {
  constexpr std::array<Range, 8> kBlocks = {{{0x4E00, 0x9FFF},
                                             {0x3400, 0x4DBF},
                                             {0x20000, 0x2A6DF},
                                             {0x2A700, 0x2B73F},
                                             {0x2B740, 0x2B81F},
                                             {0x2B920, 0x2CEAF},
                                             {0xF900, 0xFAFF},
                                             {0x2F800, 0x2FA1F}}};
  return is_in(kBlocks, code);
}

CodePoint first_code_point(std::string_view text) noexcept {
  const base::Utf8Character first = base::first_utf8(text);
  return {first.code, std::max<std::size_t>(first.length, 1)};
}

CodePoint last_code_point(std::string_view text) noexcept {
  std::size_t at = text.size() - 1;
  while (at > 0 && base::is_utf8_tail(text[at])) {
    --at;
  }
  return first_code_point(text.substr(at));
}

std::size_t count_code_points(std::string_view text) noexcept {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(),
                    [](char byte) { return !base::is_utf8_tail(byte); }));
}

void append_code_point(memory::String& out, char32_t code) {
  std::array<utf8proc_uint8_t, 4> bytes{};
  const utf8proc_ssize_t count =
      utf8proc_encode_char(static_cast<utf8proc_int32_t>(code), bytes.data());
  out.append(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::size_t>(count));
}

void append_lossy(memory::String& out, std::string_view bytes) {
  std::size_t good = 0;  // bytes before this place are in `out`
  for (std::size_t at = 0; at < bytes.size();) {
    if (const std::size_t length = base::first_utf8(bytes.substr(at)).length;
        length != 0) {
      at += length;
      continue;
    }
    out.append(bytes.substr(good, at - good));
    append_code_point(out, kReplacement);
    at += broken_length(bytes.substr(at));
    good = at;
  }
  out.append(bytes.substr(std::min(good, bytes.size())));
}

void append_lower(memory::String& out, char32_t code) {
  if (code == kDottedCapitalI) {  // the one that becomes two
    out.push_back('i');
    append_code_point(out, kCombiningDot);
    return;
  }
  append_code_point(out, static_cast<char32_t>(utf8proc_tolower(
                             static_cast<utf8proc_int32_t>(code))));
}

namespace {

using Points = memory::Vector<utf8proc_int32_t>;

Points decompose(std::string_view text, utf8proc_option_t options) {
  constexpr std::size_t kLongest = 32;  // Unicode's is 18 code points
  Points out;
  out.reserve(text.size());
  std::array<utf8proc_int32_t, kLongest> some{};
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    at += point.length;
    if (is_ascii(point.code)) {
      out.push_back(static_cast<utf8proc_int32_t>(point.code));
      continue;
    }
    int boundary = 0;
    const utf8proc_ssize_t count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(point.code),
                                some.data(), kLongest, options, &boundary);
    if (count < 0 || count > static_cast<utf8proc_ssize_t>(kLongest)) {
      throw InternalError("text: a decomposition is longer than known");
    }
    out.insert(out.end(), some.begin(), some.begin() + count);
  }
  return out;
}

utf8proc_propval_t combining_class(utf8proc_int32_t code) noexcept {
  return code < 0x300 ? utf8proc_propval_t{0}
                      : utf8proc_get_property(code)->combining_class;
}

// Canonical order: each run of marks by its combining classes, stably. (The
// library's own sorts a run of n in n squared.)
void order_marks(Points& points) {
  constexpr int kPlaceBits = 40;
  memory::Vector<std::uint64_t> keys;  // class, then place in the run
  Points run;
  for (std::size_t at = 0; at < points.size();) {
    std::size_t end = at;
    bool is_ordered = true;
    keys.clear();
    while (end < points.size()) {
      const auto rank =
          static_cast<std::uint64_t>(combining_class(points[end]));
      if (rank == 0) {
        break;
      }
      const std::uint64_t key = rank << kPlaceBits | (end - at);
      is_ordered = is_ordered && (keys.empty() || keys.back() < key);
      keys.push_back(key);
      ++end;
    }
    if (!is_ordered) {
      std::sort(keys.begin(), keys.end());
      run.assign(points.begin() + static_cast<std::ptrdiff_t>(at),
                 points.begin() + static_cast<std::ptrdiff_t>(end));
      for (std::size_t i = 0; i < keys.size(); ++i) {
        constexpr std::uint64_t kPlace = (std::uint64_t{1} << kPlaceBits) - 1;
        points[at + i] = run[static_cast<std::size_t>(keys[i] & kPlace)];
      }
    }
    at = std::max(end, at + 1);
  }
}

}  // namespace

memory::String normal_form(std::string_view text, NormalForm form) {
  const bool is_ascii_alone = std::all_of(
      text.begin(), text.end(),
      [](char byte) { return static_cast<unsigned char>(byte) < 0x80; });
  if (is_ascii_alone) {
    return memory::String(text);
  }
  const bool is_compatible =
      form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  const bool is_composed =
      form == NormalForm::kNfc || form == NormalForm::kNfkc;
  const auto options =
      static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE |
                                     (is_compatible ? UTF8PROC_COMPAT : 0));
  Points points = decompose(text, options);
  order_marks(points);
  if (is_composed) {
    const utf8proc_ssize_t left = utf8proc_normalize_utf32(
        points.data(), static_cast<utf8proc_ssize_t>(points.size()),
        static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE));
    points.resize(static_cast<std::size_t>(left));
  }
  memory::String out;
  out.reserve(text.size());
  for (const utf8proc_int32_t code : points) {
    append_code_point(out, static_cast<char32_t>(code));
  }
  return out;
}

}  // namespace neap::text
