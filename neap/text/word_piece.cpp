// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// WordPiece: from the left, the longest token that the rest of a word begins
// with; a word that cannot be written so is unknown as a whole.
#include <algorithm>

#include "neap/base/shown.hpp"
#include "neap/base/utf8.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/model.hpp"
#include "neap/text/refused.hpp"
#include "neap/text/unicode.hpp"

namespace neap::text {

memory::Owned<Model> WordPiece::read(JsonValue json) {
  auto made = memory::make_owned<WordPiece>(memory::Category::kData);
  memory::String unknown("[UNK]");
  made->prefix_ = "##";
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "vocab") {
      read_vocabulary(value, made->tokens_);
    } else if (key == "unk_token") {
      unknown = value.string();
    } else if (key == "continuing_subword_prefix") {
      made->prefix_ = value.string();
    } else if (key == "max_input_chars_per_word") {
      constexpr std::int64_t kMost = 10'000;
      made->most_characters_ = static_cast<std::size_t>(value.number(kMost));
    } else if (key != "type") {
      json.refuse_member(key);
    }
  });
  made->unknown_ = made->tokens_.id_of(unknown);
  if (made->unknown_ == TokenTable::kNone) {
    refuse(FailureKind::kCorrupt, "model WordPiece: unk_token '{}' is no token",
           base::shown(unknown));
  }
  return made;
}

// The longest token that the word goes on with at `at`. `room` is for the
// prefix and the rest of the word.
WordPiece::Match WordPiece::longest(std::string_view word, std::size_t at,
                                    memory::String& room) const {
  std::size_t size = std::min(word.size() - at, tokens_.longest());
  const std::size_t before = at > 0 ? prefix_.size() : 0;
  room = at > 0 ? prefix_ : memory::String();
  room.append(word.substr(at, size));
  for (; size > 0; --size) {
    const bool is_whole =
        at + size == word.size() || !base::is_utf8_tail(word[at + size]);
    if (!is_whole) {
      continue;
    }
    const std::uint32_t id =
        tokens_.id_of(std::string_view(room).substr(0, before + size));
    if (id != TokenTable::kNone) {
      return {id, size};
    }
  }
  return {};
}

void WordPiece::encode(std::string_view word, Ids& out) const {
  if (count_code_points(word) > most_characters_) {
    out.push_back(unknown_);
    return;
  }
  const std::size_t first = out.size();
  memory::String room;
  for (std::size_t at = 0; at < word.size();) {
    const Match match = longest(word, at, room);
    if (match.id == TokenTable::kNone) {
      out.resize(first);
      out.push_back(unknown_);
      return;
    }
    out.push_back(match.id);
    at += match.size;
  }
}

}  // namespace neap::text
