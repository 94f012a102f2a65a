// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// JsonValue: one value of a JSON text, as the range of its bytes, so that the
// "type" of an object is known before its other members are read, whatever
// their order. Of this room alone. Everything here throws Refused for what is
// not JSON, or of another kind than asked for.
// LIFETIME: the text outlives the value.
#pragma once

#include <cstdint>
#include <string_view>

#include "neap/base/function_ref.hpp"
#include "neap/memory/containers.hpp"

namespace neap::text {

class JsonValue {
 public:
  /// The value that `json` consists of; `where` names it in messages.
  JsonValue(std::string_view json, std::string_view where) noexcept
      : json_(json), where_(where) {}

  bool is_null() const noexcept { return json_ == "null"; }
  bool is_string() const noexcept { return json_.starts_with('"'); }
  bool is_array() const noexcept { return json_.starts_with('['); }
  /// The text itself, for numbers with fractions.
  std::string_view raw() const noexcept { return json_; }
  std::string_view where() const noexcept { return where_; }

  memory::String string() const;
  bool boolean() const;
  /// A whole number from 0 to `most`.
  std::int64_t number(std::int64_t most) const;
  /// A string of one character, as its code point.
  char32_t character() const;

  using Member = base::FunctionRef<void(std::string_view key, JsonValue value)>;
  void members(Member each) const;
  using Element = base::FunctionRef<void(JsonValue value)>;
  void elements(Element each) const;

  /// The string of the member "type"; empty: there is none, or it is null.
  memory::String type() const;
  /// Throws: this object's type does not have the member.
  [[noreturn]] void refuse_member(std::string_view key) const;

 private:
  std::string_view json_;
  std::string_view where_;
};

}  // namespace neap::text
