// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Foreign texts in messages: names of files and columns, cells, option values,
// tokens. Whoever made the file chose them, so they are shown harmless and
// short: a control character would be obeyed by the terminal that shows the
// message, a line's end would begin a line that Neap did not write, and a text
// may have megabytes.
//
// Escaped are the control characters of ASCII and Unicode (\n, \x1b, \u009b),
// separators of lines, characters that turn the direction of a text, and bytes
// that are not UTF-8.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "neap/base/api.hpp"

namespace neap::base {

/// Characters of a foreign text in a message; "..." tells that there are more.
inline constexpr std::size_t kMostShown = 80;
/// The most characters of a whole message that an application prints.
inline constexpr std::size_t kMostOfMessage = 1600;

/// Its first `most` characters, escaped.
NEAP_API std::string shown(std::string_view text,
                           std::size_t most = kMostShown);
/// Its last ones: the end of a path says which file it is.
NEAP_API std::string shown_path(std::string_view path);
/// The same into a buffer, cut earlier where it is too small, and ended by NUL.
NEAP_API void show_path(std::string_view path, std::span<char> into) noexcept;

/// A message of others that quotes what they were given: escaped, each word cut
/// at kMostShown characters, all of it at kMostOfMessage.
NEAP_API std::string shown_message(std::string_view message);

}  // namespace neap::base
