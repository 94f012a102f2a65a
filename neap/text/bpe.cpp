// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Byte-pair encoding (Sennrich et al. 2016): neighbours are merged, the merge
// of the lowest rank first, and of equal ones the leftmost. Merges that became
// possible wait in a heap, and symbols are a list, so that a word of n
// characters takes n log n.
#include <algorithm>
#include <array>

#include "neap/base/append.hpp"
#include "neap/base/shown.hpp"
#include "neap/text/limits.hpp"
#include "neap/text/model.hpp"
#include "neap/text/refused.hpp"
#include "neap/text/unicode.hpp"

namespace neap::text {

struct Bpe::Symbol {
  std::uint32_t id = 0;
  std::int32_t before = -1;  // places in the list; -1: none
  std::int32_t after = -1;
  bool is_there = true;  // false: merged into the one before
};

struct Bpe::Candidate {
  std::uint32_t rank = 0;
  std::uint32_t at = 0;  // place of the left symbol
  std::uint32_t id = 0;  // of what they become
  // Standard heaps have the largest in front.
  friend bool operator<(const Candidate& a, const Candidate& b) noexcept {
    return a.rank != b.rank ? a.rank > b.rank : a.at > b.at;
  }
};

struct Bpe::Work {
  memory::Vector<Symbol> symbols;
  memory::Vector<Candidate> heap;
  bool has_unknown = false;  // one that is not yet among the symbols

  void add(std::uint32_t id) {
    const auto at = static_cast<std::int32_t>(symbols.size());
    if (at > 0) {
      symbols.back().after = at;
    }
    symbols.push_back({id, at - 1, -1, true});
  }
};

namespace {

constexpr std::size_t kBytes = 256;
constexpr std::size_t kLongestWord = std::size_t{1} << 31U;  // bytes, beyond

std::string_view one(std::string_view text, std::size_t at) {
  return text.substr(at, first_code_point(text.substr(at)).length);
}

}  // namespace

memory::Owned<Model> Bpe::read(JsonValue json) {
  auto made = memory::make_owned<Bpe>(memory::Category::kData);
  memory::String unknown;
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "vocab") {
      read_vocabulary(value, made->tokens_);
    } else if (key == "dropout") {
      if (!value.is_null() &&
          value.raw().find_first_not_of("0.") != std::string_view::npos) {
        refuse(FailureKind::kUnsupported,
               "model BPE: dropout {} is not read here: encoding draws nothing",
               base::shown(value.raw()));
      }
    } else if (key == "unk_token") {
      unknown = value.is_null() ? memory::String() : value.string();
    } else if (key == "continuing_subword_prefix") {
      made->prefix_ = value.is_null() ? memory::String() : value.string();
    } else if (key == "end_of_word_suffix") {
      made->suffix_ = value.is_null() ? memory::String() : value.string();
    } else if (key == "fuse_unk") {
      made->fuses_unknown_ = value.boolean();
    } else if (key == "byte_fallback") {
      made->falls_back_ = value.boolean();
    } else if (key == "ignore_merges") {
      made->ignores_merges_ = value.boolean();
    } else if (key != "type" && key != "merges") {
      json.refuse_member(key);
    }
  });
  json.members([&](std::string_view key, JsonValue value) {
    if (key == "merges") {  // which name tokens of the vocabulary
      made->read_merges(value);
    }
  });
  if (!unknown.empty()) {
    made->unknown_ = made->tokens_.id_of(unknown);
    if (made->unknown_ == TokenTable::kNone) {
      refuse(FailureKind::kCorrupt, "model BPE: unk_token '{}' is no token",
             base::shown(unknown));
    }
  }
  made->find_bytes();
  return made;
}

void Bpe::find_bytes() {
  if (!falls_back_) {
    return;
  }
  byte_tokens_.reserve(kBytes);
  memory::String name;
  for (std::size_t byte = 0; byte < kBytes; ++byte) {
    name.clear();
    base::append(name, "<0x{:02X}>", byte);
    byte_tokens_.push_back(tokens_.id_of(name));
  }
}

// Merges are "a b" in older files, and ["a", "b"], which may have spaces.
void Bpe::read_merges(JsonValue json) {
  json.elements([&](JsonValue merge) {
    if (merge.is_string()) {
      const memory::String both = merge.string();
      const std::string_view text(both);
      const std::size_t space = text.find(' ');
      if (text.starts_with("#version")) {
        return;
      }
      if (space == std::string_view::npos ||
          text.find(' ', space + 1) != std::string_view::npos) {
        refuse(FailureKind::kCorrupt, "merges: '{}' is not two tokens",
               base::shown(text));
      }
      add_merge(text.substr(0, space), text.substr(space + 1));
      return;
    }
    std::array<memory::String, 2> parts;
    std::size_t count = 0;
    merge.elements([&](JsonValue part) {
      if (count < parts.size()) {
        parts[count] = part.string();
      }
      ++count;
    });
    if (count != parts.size()) {
      refuse(FailureKind::kCorrupt, "merges: one is of {} tokens", count);
    }
    add_merge(parts[0], parts[1]);
  });
}

void Bpe::add_merge(std::string_view first, std::string_view second) {
  const auto id_of = [&](std::string_view token) {
    const std::uint32_t id = tokens_.id_of(token);
    if (id == TokenTable::kNone) {
      refuse(FailureKind::kCorrupt, "merges: '{}' is no token",
             base::shown(token));
    }
    return id;
  };
  const std::uint64_t key = pair_key(id_of(first), id_of(second));
  memory::String both(first);
  both.append(second.substr(std::min(prefix_.size(), second.size())));
  merges_.at(key) = {merge_count_++, id_of(both)};
}

void Bpe::encode(std::string_view word, Ids& out) const {
  if (ignores_merges_) {
    const std::uint32_t id = tokens_.id_of(word);
    if (id != TokenTable::kNone) {
      out.push_back(id);
      return;
    }
  }
  if (word.size() >= kLongestWord) {
    base::raise<ValueError>("text: a word of {} bytes, at most {} are taken",
                            word.size(), kLongestWord - 1);
  }
  Work work;
  append_symbols(word, work);
  merge(work);
  for (const Symbol& symbol : work.symbols) {
    if (symbol.is_there) {
      out.push_back(symbol.id);
    }
  }
}

void Bpe::append_symbols(std::string_view word, Work& work) const {
  work.symbols.reserve(word.size());
  memory::String decorated;
  for (std::size_t at = 0; at < word.size();) {
    std::string_view character = one(word, at);
    const bool has_prefix = at > 0 && !prefix_.empty();
    at += character.size();
    const bool has_suffix = at == word.size() && !suffix_.empty();
    if (has_prefix || has_suffix) {
      decorated = has_prefix ? prefix_ : memory::String();
      decorated.append(character);
      decorated.append(has_suffix ? std::string_view(suffix_)
                                  : std::string_view());
      character = decorated;
    }
    append_character(character, work);
  }
  if (work.has_unknown) {
    work.add(unknown_);
  }
}

// An unknown character waits for its neighbours, which it may be fused with;
// tokens of bytes pass in front of it, as they do in the library that files are
// made by.
void Bpe::append_character(std::string_view character, Work& work) const {
  const std::uint32_t id = tokens_.id_of(character);
  if (id != TokenTable::kNone) {
    if (std::exchange(work.has_unknown, false)) {
      work.add(unknown_);
    }
    work.add(id);
    return;
  }
  if (falls_back_) {
    const auto token_of = [&](char byte) {
      return byte_tokens_[static_cast<unsigned char>(byte)];
    };
    const bool has_all = std::all_of(
        character.begin(), character.end(),
        [&](char byte) { return token_of(byte) != TokenTable::kNone; });
    if (has_all) {
      for (const char byte : character) {
        work.add(token_of(byte));
      }
      return;
    }
  }
  if (unknown_ != TokenTable::kNone) {
    if (work.has_unknown && !fuses_unknown_) {
      work.add(unknown_);
    }
    work.has_unknown = true;
  }
}

void Bpe::consider(std::size_t left, Work& work) const {
  const Symbol& symbol = work.symbols[left];
  const Symbol& right = work.symbols[static_cast<std::size_t>(symbol.after)];
  if (const Merge* merge = merges_.find(pair_key(symbol.id, right.id))) {
    work.heap.push_back(
        {merge->rank, static_cast<std::uint32_t>(left), merge->id});
  }
}

void Bpe::merge(Work& work) const {
  auto& symbols = work.symbols;
  auto& heap = work.heap;
  for (std::size_t at = 0; at + 1 < symbols.size(); ++at) {
    consider(at, work);
  }
  std::make_heap(heap.begin(), heap.end());
  const auto push = [&](std::size_t left) {
    const std::size_t before = heap.size();
    consider(left, work);
    if (heap.size() > before) {
      std::push_heap(heap.begin(), heap.end());
    }
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end());
    const Candidate top = heap.back();
    heap.pop_back();
    Symbol& left = symbols[top.at];
    if (!left.is_there || left.after < 0) {
      continue;
    }
    Symbol& right = symbols[static_cast<std::size_t>(left.after)];
    const Merge* merge = merges_.find(pair_key(left.id, right.id));
    if (merge == nullptr || merge->id != top.id) {
      continue;  // it was merged otherwise meanwhile
    }
    left.id = top.id;
    left.after = right.after;
    right.is_there = false;
    if (left.after >= 0) {
      symbols[static_cast<std::size_t>(left.after)].before =
          static_cast<std::int32_t>(top.at);
    }
    if (left.before >= 0) {
      push(static_cast<std::size_t>(left.before));
    }
    if (left.after >= 0) {
      push(top.at);
    }
  }
}

}  // namespace neap::text
