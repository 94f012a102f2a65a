// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/shown.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "neap/base/utf8.hpp"

namespace neap::base {
namespace {

constexpr std::string_view kCut = "...";
constexpr std::string_view kHex = "0123456789abcdef";

// A character of a text as it is shown: itself, or an escape.
struct Piece {
  std::size_t taken = 1;        // bytes of the text
  std::array<char, 6> bytes{};  // shown
  std::size_t size = 0;         // of them
  std::size_t columns = 1;      // characters
  std::string_view view() const noexcept { return {bytes.data(), size}; }
};

// Beyond ASCII: C1 controls, separators of lines, marks and overrides of the
// direction, and what is invisible.
bool is_escaped(std::uint32_t code) noexcept {
  const auto within = [&](std::uint32_t from, std::uint32_t to) {
    return code >= from && code <= to;
  };
  return within(0x80, 0x9F) || within(0x200B, 0x200F) ||
         within(0x2028, 0x202E) || within(0x2060, 0x206F) || code == 0xFEFF;
}

Piece hex(std::size_t taken, char kind, std::uint32_t value, int digits) {
  Piece piece{.taken = taken};
  piece.bytes[0] = '\\';
  piece.bytes[1] = kind;
  piece.size = 2 + static_cast<std::size_t>(digits);
  for (std::size_t at = piece.size - 1; at > 1; --at) {
    piece.bytes[at] = kHex[value & 0xFU];
    value >>= 4U;
  }
  piece.columns = piece.size;
  return piece;
}

// REQUIRES: a text that is not empty.
Piece first_piece(std::string_view text) noexcept {
  const auto byte = static_cast<unsigned char>(text.front());
  constexpr std::string_view kControls = "\n\r\t";
  constexpr std::string_view kLetters = "nrt";
  if (const auto at = kControls.find(text.front()); at != kControls.npos) {
    return {.bytes = {'\\', kLetters[at]}, .size = 2, .columns = 2};
  }
  const Utf8Character found = first_utf8(text);
  if (found.length == 0 || byte < 0x20 || byte == 0x7F) {
    return hex(1, 'x', byte, 2);
  }
  if (is_escaped(found.code)) {
    return hex(found.length, 'u', found.code, 4);
  }
  Piece piece{.taken = found.length, .size = found.length};
  std::copy_n(text.begin(), found.length, piece.bytes.begin());
  return piece;
}

// Calls take(piece) for each character until it gives false.
template <class Take>
void for_each_piece(std::string_view text, const Take& take) {
  while (!text.empty()) {
    const Piece piece = first_piece(text);
    if (!take(piece)) {
      return;
    }
    text.remove_prefix(piece.taken);
  }
}

// The first bytes of the end of `text` that is shown with `bytes` bytes and
// kMostShown characters.
std::size_t start_of_end(std::string_view text, std::size_t bytes) noexcept {
  std::size_t all_columns = 0;
  std::size_t all_bytes = 0;
  for_each_piece(text, [&](const Piece& piece) {
    all_columns += piece.columns;
    all_bytes += piece.size;
    return true;
  });
  std::size_t start = 0;
  bytes -= all_bytes > bytes || all_columns > kMostShown ? kCut.size() : 0;
  for_each_piece(text, [&](const Piece& piece) {
    if (all_columns <= kMostShown && all_bytes <= bytes) {
      return false;
    }
    all_columns -= piece.columns;
    all_bytes -= piece.size;
    start += piece.taken;
    return true;
  });
  return start;
}

}  // namespace

std::string shown(std::string_view text, std::size_t most) {
  std::string out;
  std::size_t columns = 0;
  for_each_piece(text, [&](const Piece& piece) {
    columns += piece.columns;
    out += columns <= most ? piece.view() : kCut;
    return columns <= most;
  });
  return out;
}

std::string shown_path(std::string_view path) {
  const std::size_t start = start_of_end(path, 4 * kMostShown + kCut.size());
  std::string out(start > 0 ? kCut : "");
  for_each_piece(path.substr(start), [&](const Piece& piece) {
    out += piece.view();
    return true;
  });
  return out;
}

void show_path(std::string_view path, std::span<char> into) noexcept {
  const std::size_t start = start_of_end(path, into.size() - 1);
  auto at = into.begin();
  const auto put = [&](std::string_view text) {
    at = std::copy(text.begin(), text.end(), at);
    return true;
  };
  put(start > 0 ? kCut : "");
  for_each_piece(path.substr(start),
                 [&](const Piece& piece) { return put(piece.view()); });
  *at = '\0';
}

std::string shown_message(std::string_view message) {
  std::string out;
  std::size_t columns = 0;
  std::size_t of_word = 0;
  for_each_piece(message, [&](const Piece& piece) {
    of_word = piece.view() == " " ? 0 : of_word + piece.columns;
    if (of_word > kMostShown) {
      out += of_word - piece.columns <= kMostShown ? kCut : "";
      return true;
    }
    columns += piece.columns;
    out += columns <= kMostOfMessage ? piece.view() : kCut;
    return columns <= kMostOfMessage;
  });
  return out;
}

}  // namespace neap::base
