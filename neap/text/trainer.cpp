// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/trainer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "neap/base/append.hpp"
#include "neap/base/json_string.hpp"
#include "neap/base/raise.hpp"
#include "neap/base/shown.hpp"
#include "neap/formats/json_cursor.hpp"
#include "neap/formats/source.hpp"
#include "neap/text/byte_level.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/merge_words.hpp"
#include "neap/text/pre_tokenizer.hpp"
#include "neap/text/token_table.hpp"
#include "neap/text/unicode.hpp"

namespace neap::text {
namespace {

constexpr std::size_t kByteValues = 256;

memory::ContextGuard as_data() {
  return memory::ContextGuard(
      [](memory::Context& c) { c.category = memory::Category::kData; });
}

struct Learned {
  TokenTable tokens;
  memory::Vector<std::pair<std::uint32_t, std::uint32_t>> merges;
};

// The bytes' tokens, in the order of their characters.
std::array<std::uint32_t, kByteValues> add_bytes(TokenTable& tokens) {
  std::array<char32_t, kByteValues> characters{};
  for (std::size_t byte = 0; byte < kByteValues; ++byte) {
    characters[byte] = character_of_byte(static_cast<unsigned char>(byte));
  }
  std::sort(characters.begin(), characters.end());
  std::array<std::uint32_t, kByteValues> ids{};
  memory::String token;
  for (const char32_t character : characters) {
    token.clear();
    append_code_point(token, character);
    ids[static_cast<std::size_t>(byte_of_character(character))] =
        tokens.add_next(token);
  }
  return ids;
}

void put_added(memory::String& out, const TrainOptions& options,
               const TokenTable& tokens) {
  out.append("  \"added_tokens\": [");
  TokenTable seen;
  for (const std::string& token : options.special_tokens) {
    if (seen.id_of(token) != TokenTable::kNone) {
      continue;
    }
    base::append(out, "{}\n    {{\"id\": {}, \"content\": ",
                 seen.size() == 0 ? "" : ",", tokens.id_of(token));
    base::append_json_string(out, token);
    out.append(
        ", \"single_word\": false, \"lstrip\": false, \"rstrip\": false, "
        "\"normalized\": false, \"special\": true}");
    seen.add_next(token);
  }
  out.append(seen.size() == 0 ? "],\n" : "\n  ],\n");
}

memory::String json_of(const Learned& learned, const TrainOptions& options) {
  memory::String out;
  out.append(
      "{\n  \"version\": \"1.0\",\n  \"truncation\": null,\n"
      "  \"padding\": null,\n");
  put_added(out, options, learned.tokens);
  out.append(
      "  \"normalizer\": null,\n"
      "  \"pre_tokenizer\": {\"type\": \"ByteLevel\", \"add_prefix_space\": "
      "false, \"trim_offsets\": true, \"use_regex\": true},\n"
      "  \"post_processor\": null,\n"
      "  \"decoder\": {\"type\": \"ByteLevel\", \"add_prefix_space\": true, "
      "\"trim_offsets\": true, \"use_regex\": true},\n"
      "  \"model\": {\n    \"type\": \"BPE\",\n    \"dropout\": null,\n"
      "    \"unk_token\": null,\n    \"continuing_subword_prefix\": null,\n"
      "    \"end_of_word_suffix\": null,\n    \"fuse_unk\": false,\n"
      "    \"byte_fallback\": false,\n    \"ignore_merges\": false,\n"
      "    \"vocab\": {");
  for (std::uint32_t id = 0; id < learned.tokens.id_limit(); ++id) {
    out.append(id == 0 ? "\n      " : ",\n      ");
    base::append_json_string(out, learned.tokens.text_of(id));
    base::append(out, ": {}", id);
  }
  out.append("\n    },\n    \"merges\": [");
  const char* before = "\n      [";
  for (const auto& [first, second] : learned.merges) {
    out.append(std::exchange(before, ",\n      ["));
    base::append_json_string(out, learned.tokens.text_of(first));
    out.append(", ");
    base::append_json_string(out, learned.tokens.text_of(second));
    out.push_back(']');
  }
  out.append(learned.merges.empty() ? "]\n  }\n}\n" : "\n    ]\n  }\n}\n");
  return out;
}

}  // namespace

// Words with their counts.
class BpeTrainer::Words {
 public:
  Words() : splitter_(PreTokenizer::byte_level()) {}

  /// REQUIRES: a line of UTF-8.
  void add_line(std::string_view line) {
    if (line.empty()) {
      return;
    }
    pieces_.text = line;
    pieces_.list.assign(1, {0, line.size(), true});
    splitter_.apply(pieces_);
    for (const Pieces::Piece& piece : pieces_.list) {
      const std::uint32_t id = words_.add_next(pieces_.view(piece));
      counts_.resize(words_.size(), 0);
      ++counts_[id];
    }
  }

  std::size_t size() const noexcept { return counts_.size(); }

  /// All words as symbols of bytes.
  void put(MergedWords& into,
           const std::array<std::uint32_t, kByteValues>& ids) const {
    memory::Vector<std::uint32_t> symbols;
    for (std::uint32_t id = 0; id < counts_.size(); ++id) {
      symbols.clear();
      const std::string_view word = words_.text_of(id);
      for (std::size_t at = 0; at < word.size();) {
        const CodePoint point = first_code_point(word.substr(at));
        symbols.push_back(
            ids[static_cast<std::size_t>(byte_of_character(point.code))]);
        at += point.length;
      }
      into.add(symbols, counts_[id]);
    }
  }

 private:
  PreTokenizer splitter_;
  Pieces pieces_;
  TokenTable words_;
  memory::Vector<std::int64_t> counts_;
};

BpeTrainer::BpeTrainer(const TrainOptions& options) : options_(options) {
  if (options.vocab_size < 0 || options.vocab_size > kMostId ||
      options.min_frequency < 0) {
    base::raise<ValueError>(
        "tokenizer: vocab_size {} and min_frequency {}, expected 0 to {} and "
        "none negative",
        options.vocab_size, options.min_frequency, kMostId);
  }
  for (const std::string& token : options.special_tokens) {
    if (token.empty() || token.size() > kLongestToken ||
        !formats::is_utf8(token)) {
      base::raise<ValueError>(
          "tokenizer: special token '{}', expected UTF-8 of 1 to {} bytes",
          base::shown(token), kLongestToken);
    }
  }
  const auto guard = as_data();
  words_ = memory::make_owned<Words>(memory::Category::kData);
}

BpeTrainer::BpeTrainer(BpeTrainer&&) noexcept = default;
BpeTrainer::~BpeTrainer() = default;

std::int64_t BpeTrainer::word_count() const noexcept {
  return static_cast<std::int64_t>(words_->size());
}

Result<void> BpeTrainer::add(std::string_view text) {
  const auto guard = as_data();
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end + (end < text.size()));
    if (!formats::is_utf8(line)) {
      return failure(FailureKind::kCorrupt,
                     fmt::format("'{}': a line that is not UTF-8; convert it",
                                 base::shown(line)));
    }
    words_->add_line(line);
    text.remove_prefix(line.size());
  }
  return {};
}

Result<void> BpeTrainer::add_file(const std::string& path, files::Door& door) {
  constexpr std::size_t kPart = 256 * 1024;
  const auto guard = as_data();
  auto source = formats::open_source(door, path);
  if (!source) {
    return tl::make_unexpected(std::move(source.error()));
  }
  memory::String buffer;
  for (bool is_last = false; !is_last;) {
    const std::size_t before = buffer.size();
    buffer.resize(before + std::max(kPart, before));
    const auto count = files::read_full(
        **source, std::as_writable_bytes(std::span(buffer)).subspan(before));
    if (!count) {
      return tl::make_unexpected(count.error());
    }
    const std::size_t size = before + static_cast<std::size_t>(*count);
    is_last = size < buffer.size();
    buffer.resize(size);
    // Whole lines; what is left waits for the rest of its line.
    const std::size_t end = is_last ? size : buffer.rfind('\n') + 1;
    if (auto added = add(std::string_view(buffer).substr(0, end)); !added) {
      return failure(
          added.error().kind,
          fmt::format("{}: {}", base::shown_path(path), added.error().message));
    }
    buffer.erase(0, end);
  }
  return {};
}

memory::String BpeTrainer::train() const {
  const auto guard = as_data();
  Learned learned;
  for (const std::string& token : options_.special_tokens) {
    learned.tokens.add_next(token);
  }
  MergedWords words;
  words_->put(words, add_bytes(learned.tokens));
  words.count_pairs();
  const auto wanted = static_cast<std::size_t>(options_.vocab_size);
  memory::String both;
  MergedWords::Top top;
  while (learned.tokens.size() < wanted && words.pop(top) &&
         top.count >= options_.min_frequency) {
    both = learned.tokens.text_of(top.first);
    both.append(learned.tokens.text_of(top.second));
    learned.merges.emplace_back(top.first, top.second);
    words.merge(learned.tokens.add_next(both));
  }
  return json_of(learned, options_);
}

}  // namespace neap::text
