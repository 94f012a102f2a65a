// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Splits each word by what matches. Of this room alone.
#pragma once

#include "neap/base/function_ref.hpp"
#include "neap/text/pre_tokenizer.hpp"

namespace neap::text {

/// By the matches of a pattern; inverted, by what is between them. THROWS:
/// ValueError of the pattern; OutOfMemory.
void split(Pieces& pieces, const Pattern& pattern, Behavior behavior,
           bool is_inverted = false);

/// Runs of letters and the like, and runs of what is neither these nor white
/// space. THROWS: OutOfMemory.
void split_words(Pieces& pieces);

/// By characters, each a match of its own. THROWS: OutOfMemory.
void split(Pieces& pieces, bool (*is_match)(char32_t), Behavior behavior);

}  // namespace neap::text
