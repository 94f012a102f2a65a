// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Numbers on the command line and in settings: the whole text is one number
// within its bounds, or it is refused.
#pragma once

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

namespace neap::app {

/// False where the text is more or less than one number, or a number that T
/// does not hold; `value` may then be any. "inf" and "nan" are numbers of a
/// double.
template <class T>
bool parse_number(std::string_view text, T& value) noexcept {
  const char* end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end;
}

}  // namespace neap::app
