// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Single steps of a decoder, each from tokens to tokens. Of this room alone.
#pragma once

#include "neap/text/decoder.hpp"

namespace neap::text {

TextList decode_byte_level(const TextList& tokens);
TextList decode_byte_fallback(const TextList& tokens);
TextList decode_word_piece(const TextList& tokens, std::string_view prefix,
                           bool is_cleaned);
TextList decode_metaspace(const TextList& tokens, char32_t replacement,
                          bool drops_first);
TextList decode_strip(const TextList& tokens, char32_t content,
                      std::int64_t start, std::int64_t stop);
/// BPEDecoder: a suffix ends words.
TextList decode_suffix(const TextList& tokens, std::string_view suffix);

}  // namespace neap::text
