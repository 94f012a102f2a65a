// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/added_tokens.hpp"

#include <algorithm>
#include <utility>

#include "neap/base/shown.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/refused.hpp"
#include "neap/text/unicode.hpp"

namespace neap::text {
namespace {

AddedToken read_token(JsonValue json) {
  AddedToken token;
  bool has_id = false;
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "id") {
      token.id = static_cast<std::uint32_t>(value.number(kMostId));
      has_id = true;
    } else if (key == "content") {
      token.content = value.string();
    } else if (key == "special") {
      token.is_special = value.boolean();
    } else if (key == "single_word") {
      token.is_single_word = value.boolean();
    } else if (key == "lstrip") {
      token.strips_left = value.boolean();
    } else if (key == "rstrip") {
      token.strips_right = value.boolean();
    } else if (key == "normalized") {
      token.is_normalized = value.boolean();
    } else {
      json.refuse_member(key);
    }
  });
  if (!has_id || token.content.empty() ||
      token.content.size() > kLongestToken) {
    refuse(FailureKind::kCorrupt,
           "added_tokens: one without an id, or not of 1 to {} bytes",
           kLongestToken);
  }
  return token;
}

bool ends_with_word(std::string_view text) noexcept {
  return !text.empty() && is_word(last_code_point(text).code);
}

bool starts_with_word(std::string_view text) noexcept {
  return !text.empty() && is_word(first_code_point(text).code);
}

std::size_t spaces_at_end(std::string_view text) noexcept {
  const std::size_t whole = text.size();
  while (!text.empty()) {
    const CodePoint last = last_code_point(text);
    if (!is_space(last.code)) {
      break;
    }
    text.remove_suffix(last.length);
  }
  return whole - text.size();
}

std::size_t spaces_at_start(std::string_view text) noexcept {
  const std::size_t whole = text.size();
  while (!text.empty()) {
    const CodePoint first = first_code_point(text);
    if (!is_space(first.code)) {
      break;
    }
    text.remove_prefix(first.length);
  }
  return whole - text.size();
}

}  // namespace

void Finder::add(std::string_view text, std::uint32_t value) {
  std::uint32_t node = 0;
  for (const char byte : text) {
    std::uint32_t& child =
        children_.at(pair_key(node, static_cast<unsigned char>(byte)));
    if (child == 0) {
      child = nodes_++;
    }
    node = child;
  }
  // Kept is the first of texts that are the same.
  if (values_.find(node) == nullptr) {
    values_.at(node) = value;
  }
}

Finder::Found Finder::at(std::string_view text, std::size_t at) const noexcept {
  Found found;
  std::uint32_t node = 0;
  for (std::size_t end = at; end < text.size(); ++end) {
    const std::uint32_t* child =
        children_.find(pair_key(node, static_cast<unsigned char>(text[end])));
    if (child == nullptr) {
      break;
    }
    node = *child;
    if (const std::uint32_t* value = values_.find(node)) {
      found = {*value, end + 1 - at};
    }
  }
  return found;
}

void AddedTokens::read(JsonValue json, const TokenTable& model) {
  std::int64_t count = 0;
  std::int64_t largest = 0;
  json.elements([&](JsonValue value) {
    ++count;
    largest = std::max<std::int64_t>(largest, read_token(value).id);
  });
  constexpr std::int64_t kGaps = 65'536;
  if (largest > 4 * (count + static_cast<std::int64_t>(model.size())) + kGaps) {
    refuse(FailureKind::kCorrupt, "added_tokens: id {} among {} tokens",
           largest, count + static_cast<std::int64_t>(model.size()));
  }
  json.elements([&](JsonValue value) { add(read_token(value), model); });
}

void AddedTokens::add(AddedToken token, const TokenTable& model) {
  const std::uint32_t known = model.id_of(token.content);
  const bool is_others =
      known == TokenTable::kNone
          ? model.has(token.id) || !extra_.add(token.content, token.id)
          : known != token.id;
  if (is_others) {
    refuse(FailureKind::kCorrupt,
           "added_tokens: token '{}' or its id {} is another's",
           base::shown(token.content), token.id);
  }
  const auto place = static_cast<std::uint32_t>(list_.size());
  if (!places_.add(token.content, place)) {
    refuse(FailureKind::kCorrupt, "added_tokens: token '{}' is twice",
           base::shown(token.content));
  }
  list_.push_back(std::move(token));
}

void AddedTokens::build(const Normalizer& normalizer) {
  // Special ones come first where two become the same text.
  for (const bool is_special : {true, false}) {
    for (std::uint32_t i = 0; i < list_.size(); ++i) {
      const AddedToken& token = list_[i];
      if (token.is_special != is_special) {
        continue;
      }
      if (!token.is_normalized) {
        plain_.add(token.content, i);
        continue;
      }
      const memory::String content = normalizer.apply(token.content);
      if (content.empty()) {
        refuse(FailureKind::kUnsupported,
               "added_tokens: nothing is left of '{}' once it is normalized",
               base::shown(token.content));
      }
      normalized_.add(content, i);
    }
  }
}

bool AddedTokens::is_special(std::string_view token) const noexcept {
  const std::uint32_t place = places_.id_of(token);
  return place != TokenTable::kNone && list_[place].is_special;
}

void AddedTokens::split(std::string_view text, Each each) const {
  split(plain_, text, each);
}

void AddedTokens::split_normalized(std::string_view text, Each each) const {
  split(normalized_, text, each);
}

void AddedTokens::split(const Finder& finder, std::string_view text,
                        Each each) const {
  std::size_t from = 0;  // the text before it is dealt with
  std::size_t spaces_end = 0;
  for (std::size_t at = 0; at < text.size() && !finder.is_empty();) {
    const Finder::Found found = finder.at(text, at);
    if (found.length == 0) {
      ++at;
      continue;
    }
    const AddedToken& token = list_[found.value];
    std::size_t begin = at;
    std::size_t end = at + found.length;
    at = end;
    if (token.is_single_word && (ends_with_word(text.substr(0, begin)) ||
                                 starts_with_word(text.substr(end)))) {
      continue;
    }
    // White space that the token before took is nobody else's.
    begin = std::max(begin, from);
    end = std::max(end, from);
    if (token.strips_left) {
      begin -= spaces_at_end(text.substr(from, begin - from));
    }
    if (token.strips_right) {
      // Each run of spaces is looked at once.
      end =
          std::max(end + (end < spaces_end ? std::size_t{0}
                                           : spaces_at_start(text.substr(end))),
                   spaces_end);
      spaces_end = end;
    }
    if (from < begin) {
      each({text.substr(from, begin - from), nullptr});
    }
    each({text.substr(begin, end - begin), &token});
    from = end;
  }
  if (from < text.size()) {
    each({text.substr(from), nullptr});
  }
}

}  // namespace neap::text
