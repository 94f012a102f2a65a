// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Patterns of a tokenizer.json are in Oniguruma's syntax, with its meanings of
// \s, \w and the rest over all of Unicode; PCRE2 has others in places. This
// writes one as the other, and refuses what would not mean the same.
#pragma once

#include <string_view>

#include "neap/memory/containers.hpp"

namespace neap::text {

/// RETURNS: the pattern for PCRE2. THROWS: Refused (kUnsupported), which names
/// the construct; OutOfMemory.
memory::String pcre_pattern(std::string_view onig);

/// The pattern for PCRE2 that matches `text` itself.
memory::String literal_pattern(std::string_view text);

}  // namespace neap::text
