// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Formatted text at the end of a string of any allocator:
//
//   append(text, "{} of {}", part, whole);
//
// The formatting itself is one function in append.cpp: a source that expands
// fmt::format_to for a string of its own takes two seconds longer to compile.
#pragma once

#include <fmt/core.h>

#include <array>
#include <cstddef>
#include <span>

#include "neap/base/api.hpp"

namespace neap::base {

/// Writes as much as fits. RETURNS: how many characters the whole has.
NEAP_API std::size_t vformat_into(std::span<char> room, fmt::string_view format,
                                  fmt::format_args args);

template <class... Args>
std::size_t format_into(std::span<char> room,
                        fmt::format_string<Args...> format, Args&&... args) {
  return vformat_into(room, format, fmt::make_format_args(args...));
}

template <class String, class... Args>
void append(String& text, fmt::format_string<Args...> format, Args&&... args) {
  const auto list = fmt::make_format_args(args...);
  std::array<char, 256> some;
  const std::size_t size = vformat_into(some, format, list);
  if (size <= some.size()) {
    text.append(some.data(), size);
    return;
  }
  const std::size_t before = text.size();
  text.resize(before + size);
  vformat_into(std::span(text).subspan(before), format, list);
}

}  // namespace neap::base
