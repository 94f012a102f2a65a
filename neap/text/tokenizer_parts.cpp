// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/tokenizer_parts.hpp"

#include "neap/base/shown.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/refused.hpp"

namespace neap::text {

TokenizerParts::TokenizerParts(JsonValue json) {
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "model") {
      model = Model::read(value);
    } else if (key == "normalizer") {
      normalizer = Normalizer::read(value);
    } else if (key == "pre_tokenizer") {
      pre_tokenizer = PreTokenizer::read(value);
    } else if (key == "post_processor") {
      around = Template::read(value);
    } else if (key == "decoder") {
      decoder = Decoder::read(value);
    } else if (key == "truncation") {
      truncation = Truncation::read(value);
    } else if (key == "padding") {
      padding = Padding::read(value);
    } else if (key == "version") {
      const memory::String version = value.string();
      if (version != "1.0") {
        refuse(FailureKind::kUnsupported, "version '{}', 1.0 is read",
               base::shown(version));
      }
    } else if (key != "added_tokens") {
      json.refuse_member(key);
    }
  });
  if (model == nullptr) {
    refuse(FailureKind::kCorrupt, "there is no model");
  }
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "added_tokens" && !value.is_null()) {
      added.read(value, model->tokens());  // ids of the model's, or others
    }
  });
  added.build(normalizer);
  check_ids(around.front);
  check_ids(around.back);
  truncation.check(around.front.size() + around.back.size());
  if (padding.id() >= 0 && table_of(padding.id()) == nullptr) {
    refuse(FailureKind::kCorrupt, "padding: there is no token {}",
           padding.id());
  }
}

void TokenizerParts::check_ids(const Ids& ids) const {
  for (const std::int64_t id : ids) {
    if (table_of(id) == nullptr) {
      refuse(FailureKind::kCorrupt, "post_processor: there is no token {}", id);
    }
  }
}

std::uint32_t TokenizerParts::id_of(std::string_view token) const noexcept {
  const std::uint32_t id = model->tokens().id_of(token);
  return id != TokenTable::kNone ? id : added.extra().id_of(token);
}

const TokenTable* TokenizerParts::table_of(std::int64_t id) const noexcept {
  if (id < 0 || id > kMostId) {
    return nullptr;
  }
  const auto number = static_cast<std::uint32_t>(id);
  return model->tokens().has(number) ? &model->tokens()
         : added.extra().has(number) ? &added.extra()
                                     : nullptr;
}

void TokenizerParts::encode(std::string_view text, Ids& out) const {
  const char* const start = text.data();
  added.split(text, [&](const AddedTokens::Part& part) {
    if (part.token != nullptr) {
      out.push_back(part.token->id);
    } else {
      encode_section(part.text, part.text.data() == start, out);
    }
  });
}

// A part of the text between added tokens that are looked for as they are.
void TokenizerParts::encode_section(std::string_view text, bool is_first,
                                    Ids& out) const {
  const memory::String normalized =
      normalizer.is_empty() ? memory::String(text) : normalizer.apply(text);
  const char* const start = normalized.data();
  added.split_normalized(normalized, [&](const AddedTokens::Part& part) {
    if (part.token != nullptr) {
      out.push_back(part.token->id);
      return;
    }
    Pieces pieces;
    pieces.text = part.text;
    pieces.list.push_back(
        {0, part.text.size(), is_first && part.text.data() == start});
    pre_tokenizer.apply(pieces);
    for (const Pieces::Piece& piece : pieces.list) {
      if (piece.begin < piece.end) {
        model->encode(pieces.view(piece), out);
      }
    }
  });
}

}  // namespace neap::text
