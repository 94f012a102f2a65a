// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TokenizerParts: what a tokenizer.json describes, in the order in which a text
// goes through it. Of this room alone.
#pragma once

#include "neap/text/added_tokens.hpp"
#include "neap/text/decoder.hpp"
#include "neap/text/json_value.hpp"
#include "neap/text/length.hpp"
#include "neap/text/model.hpp"
#include "neap/text/normalizer.hpp"
#include "neap/text/pre_tokenizer.hpp"
#include "neap/text/template.hpp"

namespace neap::text {

class TokenizerParts {
 public:
  /// THROWS: Refused; OutOfMemory.
  explicit TokenizerParts(JsonValue json);

  void encode(std::string_view text, Ids& out) const;
  /// kNone: there is no such token.
  std::uint32_t id_of(std::string_view token) const noexcept;
  /// The table that has an id; nullptr: none has.
  const TokenTable* table_of(std::int64_t id) const noexcept;

  AddedTokens added;
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  memory::Owned<Model> model;
  Template around;
  Truncation truncation;
  Padding padding;
  Decoder decoder;

 private:
  void check_ids(const Ids& ids) const;
  void encode_section(std::string_view text, bool is_first, Ids& out) const;
};

}  // namespace neap::text
