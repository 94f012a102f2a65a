// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/data/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "neap/base/raise.hpp"
#include "neap/data/text_source.hpp"
#include "neap/data/utf8.hpp"

namespace neap::data {
namespace {

constexpr std::int64_t kByteValues = 256;

template <class T>
memory::Vector<T> empty_list() {
  return memory::Vector<T>(memory::Allocator<T>(memory::Category::kData));
}

}  // namespace

Result<Vocabulary> Vocabulary::of_characters(std::string_view text) {
  TextSource source(text);
  CharacterSet seen;
  const auto walked =
      walk_symbols(source, Symbols::kCharacters, [&](char32_t symbol) {
        seen.add(symbol);
        return true;
      });
  if (!walked) {
    return tl::unexpected(walked.error());
  }
  return seen.vocabulary(source.name());
}

Vocabulary Vocabulary::of_sorted(memory::Vector<char32_t> code_points) {
  const bool ascends =
      std::adjacent_find(code_points.begin(), code_points.end(),
                         [](char32_t a, char32_t b) { return a >= b; }) ==
      code_points.end();
  if (!ascends || code_points.size() > static_cast<std::size_t>(kMost)) {
    base::raise<ValueError>(
        "vocabulary: {} code points, expected at most {}, in ascending order",
        code_points.size(), kMost);
  }
  Vocabulary made;
  made.is_bytes_ = false;
  made.code_points_ = std::move(code_points);
  return made;
}

std::int64_t Vocabulary::size() const noexcept {
  return is_bytes_ ? kByteValues
                   : static_cast<std::int64_t>(code_points_.size());
}

std::int64_t Vocabulary::token_of(char32_t symbol) const noexcept {
  if (is_bytes_) {
    return symbol < kByteValues ? static_cast<std::int64_t>(symbol) : -1;
  }
  const auto found =
      std::lower_bound(code_points_.begin(), code_points_.end(), symbol);
  return found != code_points_.end() && *found == symbol
             ? found - code_points_.begin()
             : -1;
}

Result<memory::Vector<std::int64_t>> Vocabulary::encode(
    std::string_view text) const {
  auto tokens = empty_list<std::int64_t>();
  tokens.reserve(text.size());
  TextSource source(text);
  std::int64_t missing = -1;
  auto walked = walk_symbols(source, symbols(), [&](char32_t symbol) {
    const std::int64_t token = token_of(symbol);
    missing = token < 0 ? static_cast<std::int64_t>(symbol) : -1;
    tokens.push_back(token);
    return token >= 0;
  });
  if (!walked) {
    return tl::unexpected(std::move(walked.error()));
  }
  if (missing >= 0) {
    return failure(
        FailureKind::kMismatch,
        fmt::format("text: character U+{:04X} at number {} is not among the "
                    "{} of the vocabulary",
                    missing, tokens.size() - 1, size()));
  }
  return tokens;
}

memory::String Vocabulary::decode(std::span<const std::int64_t> tokens) const {
  memory::String text{memory::Allocator<char>(memory::Category::kData)};
  text.reserve(tokens.size());
  for (const std::int64_t token : tokens) {
    if (token < 0 || token >= size()) {
      base::raise<ValueError>("vocabulary: token {}, expected 0 to {}", token,
                              size() - 1);
    }
    if (is_bytes_) {
      text.push_back(static_cast<char>(token));
    } else {
      append_utf8(text, code_points_[static_cast<std::size_t>(token)]);
    }
  }
  return text;
}

memory::String Vocabulary::characters() const {
  memory::String text{memory::Allocator<char>(memory::Category::kData)};
  for (const char32_t code_point : code_points_) {
    append_utf8(text, code_point);
  }
  return text;
}

}  // namespace neap::data
