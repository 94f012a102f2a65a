// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// JsonCursor: reads JSON text (RFC 8259) token by token, strictly, for formats
// whose headers are JSON of a known form. It never recurses and holds nothing:
// what is read goes where the caller says. (A general parser buffers each token
// on the heap, behind the allocation door, as long as a file makes it.)
//
// The first fault ends the reading: every later call is false and changes
// nothing.
// LIFETIME: the text outlives the cursor.
#pragma once

#include <cstdint>
#include <string_view>

#include "neap/base/api.hpp"
#include "neap/memory/containers.hpp"

namespace neap::formats {

class NEAP_API JsonCursor {
 public:
  explicit JsonCursor(std::string_view text) noexcept : text_(text) {}

  /// Goes past `token` where it comes next, after white space.
  bool accept(char token) noexcept;
  /// The same for a literal name: true, false or null.
  bool accept_word(std::string_view word) noexcept;
  /// Like accept; a fault where something else comes.
  bool expect(char token) noexcept;
  /// A string with its escapes resolved. A fault unless it is UTF-8 without
  /// unpaired surrogates. THROWS: OutOfMemory.
  bool string(memory::String& out);
  /// A whole number from 0 to 2^63 - 1, without sign, fraction and exponent.
  bool number(std::int64_t& out) noexcept;
  /// The same with a sign, from -(2^63 - 1).
  bool integer(std::int64_t& out) noexcept;
  /// true or false.
  bool boolean(bool& out) noexcept;
  /// Goes past any value; of arrays and objects only the brackets are checked.
  /// A fault for one of more than 64 levels. THROWS: OutOfMemory.
  bool skip();
  /// A fault unless only white space is left.
  bool finish() noexcept;

  bool is_good() const noexcept { return fault_.empty(); }
  /// The first fault, like "expected ':'"; empty: none so far.
  std::string_view fault() const noexcept { return fault_; }
  /// Bytes before what was refused, or before what comes next.
  std::size_t position() const noexcept { return at_; }

 private:
  bool fail(std::string_view fault) noexcept;
  void skip_space() noexcept;
  bool skip_scalar(memory::String& scratch);
  bool escape(memory::String& out);
  bool hex_digits(std::uint32_t& out) noexcept;
  bool escaped_code_point(std::uint32_t& out) noexcept;

  std::string_view text_;
  std::size_t at_ = 0;
  std::string_view fault_;
};

/// Well-formed by RFC 3629: shortest forms, no surrogates, up to U+10FFFF.
NEAP_API bool is_utf8(std::string_view text) noexcept;

}  // namespace neap::formats
