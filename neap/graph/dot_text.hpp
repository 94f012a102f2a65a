// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by pictures in the DOT language.
#pragma once

#include <string>
#include <string_view>

namespace neap::graph {

/// Text inside double quotes: a quote or backslash of the user's ends nothing.
inline std::string quoted(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
    }
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

}  // namespace neap::graph
