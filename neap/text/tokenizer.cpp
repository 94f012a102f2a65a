// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/tokenizer.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "neap/base/raise.hpp"
#include "neap/base/shown.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/formats/source.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/refused.hpp"
#include "neap/text/tokenizer_parts.hpp"

namespace neap::text {
namespace {

// Memory that a tokenizer takes is counted as data, whoever asks.
memory::ContextGuard as_data() {
  return memory::ContextGuard(
      [](memory::Context& c) { c.category = memory::Category::kData; });
}

Result<memory::String> read_whole(files::ByteSource& source) {
  constexpr std::size_t kPart = 64 * 1024;
  memory::String text;
  for (;;) {
    const std::size_t before = text.size();
    text.resize(before + std::max(kPart, before));
    const auto count = files::read_full(
        source, std::as_writable_bytes(std::span(text)).subspan(before));
    if (!count) {
      return tl::make_unexpected(count.error());
    }
    const std::size_t size = before + static_cast<std::size_t>(*count);
    const bool is_whole = size < text.size();
    text.resize(size);
    if (static_cast<Bytes>(size) > kMostJson) {
      return failure(
          FailureKind::kTooLarge,
          fmt::format("{}: larger than {}", base::shown_path(source.name()),
                      format_bytes_short(kMostJson)));
    }
    if (is_whole) {
      return text;
    }
  }
}

}  // namespace

Tokenizer::Tokenizer(memory::Owned<TokenizerParts> parts) noexcept
    : parts_(std::move(parts)) {}
Tokenizer::Tokenizer(Tokenizer&&) noexcept = default;
Tokenizer& Tokenizer::operator=(Tokenizer&&) noexcept = default;
Tokenizer::~Tokenizer() = default;

Result<Tokenizer> Tokenizer::open(const std::string& path, files::Door& door) {
  const auto guard = as_data();
  auto source = formats::open_source(door, path);
  if (!source) {
    return tl::make_unexpected(std::move(source.error()));
  }
  auto text = read_whole(**source);
  if (!text) {
    return tl::make_unexpected(std::move(text.error()));
  }
  return parse(*text, path);
}

Result<Tokenizer> Tokenizer::parse(std::string_view json,
                                   std::string_view name) {
  const auto guard = as_data();
  try {
    if (static_cast<Bytes>(json.size()) > kMostJson) {
      refuse(FailureKind::kTooLarge, "larger than {}",
             format_bytes_short(kMostJson));
    }
    return Tokenizer(memory::make_owned<TokenizerParts>(
        memory::Category::kData, JsonValue(json, "tokenizer")));
  } catch (const Refused& refused) {
    return failure(refused.kind(), fmt::format("{}: {}", base::shown_path(name),
                                               refused.what()));
  } catch (const ValueError& error) {  // a pattern on an added token
    return failure(FailureKind::kUnsupported,
                   fmt::format("{}: {}", base::shown_path(name), error.what()));
  }
}

memory::Vector<std::int64_t> Tokenizer::encode(std::string_view text,
                                               EncodeOptions options) const {
  const auto guard = as_data();
  Ids ids;
  if (options.add_special_tokens) {
    ids = parts_->around.front;
  }
  memory::String lossy;
  if (!formats::is_utf8(text)) {
    append_lossy(lossy, text);
    text = lossy;
  }
  const std::size_t begin = ids.size();
  parts_->encode(text, ids);
  const Ids none;
  const Ids& back = options.add_special_tokens ? parts_->around.back : none;
  if (options.truncate) {
    parts_->truncation.apply(ids, begin, begin + back.size());
  }
  ids.insert(ids.end(), back.begin(), back.end());
  if (options.pad) {
    parts_->padding.apply(ids);
  }
  return ids;
}

memory::String Tokenizer::decode(std::span<const std::int64_t> ids,
                                 DecodeOptions options) const {
  const auto guard = as_data();
  TextList tokens;
  for (const std::int64_t id : ids) {
    const std::string_view token = token_of(id);
    if (!options.skip_special_tokens || !parts_->added.is_special(token)) {
      tokens.add(token);
    }
  }
  return parts_->decoder.apply(std::move(tokens));
}

std::int64_t Tokenizer::vocab_size() const noexcept {
  return static_cast<std::int64_t>(parts_->model->tokens().size() +
                                   parts_->added.extra().size());
}

std::int64_t Tokenizer::id_limit() const noexcept {
  return std::max(parts_->model->tokens().id_limit(),
                  parts_->added.extra().id_limit());
}

std::int64_t Tokenizer::id_of(std::string_view token) const noexcept {
  const std::uint32_t id = parts_->id_of(token);
  return id == TokenTable::kNone ? -1 : std::int64_t{id};
}

std::string_view Tokenizer::token_of(std::int64_t id) const {
  const TokenTable* table = parts_->table_of(id);
  if (table == nullptr) {
    base::raise<ValueError>("text: there is no token {}, ids are below {}", id,
                            id_limit());
  }
  return table->text_of(static_cast<std::uint32_t>(id));
}

bool Tokenizer::is_special(std::int64_t id) const noexcept {
  const TokenTable* table = parts_->table_of(id);
  return table != nullptr && parts_->added.is_special(table->text_of(
                                 static_cast<std::uint32_t>(id)));
}

}  // namespace neap::text
