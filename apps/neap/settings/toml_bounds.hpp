// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Bounds of a TOML text, before the parser sees it: the parser, and the tree
// that it makes, recurse over nested values, tables and dotted keys.
#pragma once

#include <string>
#include <string_view>

#include "neap/base/bytes.hpp"
#include "neap/base/result.hpp"

namespace neap::app {

inline constexpr Bytes kLargestToml = 64 * kKiB;
/// Brackets within brackets, and dots of one key; settings need 1 of each.
inline constexpr int kDeepestToml = 64;

/// Failures: kTooLarge for a longer text, or a line that nests deeper; `file`
/// begins the message. Takes the time of one look at each byte.
Result<void> check_toml_bounds(std::string_view text, const std::string& file);

}  // namespace neap::app
