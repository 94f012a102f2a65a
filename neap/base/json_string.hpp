// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace neap::base {

/// Appends `text` as a JSON string, in quotes, to characters or bytes: quotes,
/// backslashes and control characters are escaped, and bytes above 127 stay as
/// they are (JSON is UTF-8).
template <class Out>
void append_json_string(Out& out, std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  constexpr unsigned char kFirstPrintable = 0x20;
  const auto put = [&](char c) {
    out.push_back(static_cast<typename Out::value_type>(c));
  };
  put('"');
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      put('\\');
      put(c);
    } else if (byte < kFirstPrintable) {
      for (const char escape :
           {'\\', 'u', '0', '0', kHex[byte >> 4U], kHex[byte & 0xFU]}) {
        put(escape);
      }
    } else {
      put(c);
    }
  }
  put('"');
}

}  // namespace neap::base
