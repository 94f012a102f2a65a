// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// JsonObject: the tool's reports as JSON, indented for people. The JSON library
// stands behind it, in one source, since names of a user's that are not UTF-8
// are replaced there; the library's own compact writer (program/json_text.hpp)
// is for texts as long as a program.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "neap/base/bytes.hpp"

namespace neap::app {

/// Members keep the order in which they were added.
class JsonObject {
 public:
  JsonObject();
  ~JsonObject();
  JsonObject(JsonObject&&) noexcept;
  JsonObject& operator=(JsonObject&&) noexcept;

  JsonObject& add(const char* key, std::string_view text);
  JsonObject& add(const char* key, const char* text) {
    return add(key, std::string_view(text));
  }
  /// null unless finite.
  JsonObject& add(const char* key, double number);
  template <std::integral T>
  JsonObject& add(const char* key, T value) {
    if constexpr (std::same_as<T, bool>) {
      return add_bool(key, value);
    } else if constexpr (std::signed_integral<T>) {
      return add_signed(key, value);
    } else {
      return add_unsigned(key, value);
    }
  }
  /// null where there is none.
  template <class T>
  JsonObject& add(const char* key, const std::optional<T>& value) {
    return value ? add(key, *value) : add_null(key);
  }
  /// {name: bytes, ...} in the order of the rows.
  JsonObject& add(const char* key,
                  const std::vector<std::pair<std::string, Bytes>>& rows);

  /// [object, ...].
  JsonObject& add(const char* key, const std::vector<JsonObject>& objects);

  /// In lines, the last one ended. What is not UTF-8 in a text is replaced.
  std::string text() const;

 private:
  struct Impl;
  JsonObject& add_bool(const char* key, bool value);
  JsonObject& add_signed(const char* key, std::int64_t value);
  JsonObject& add_unsigned(const char* key, std::uint64_t value);
  JsonObject& add_null(const char* key);

  std::unique_ptr<Impl> impl_;
};

}  // namespace neap::app
