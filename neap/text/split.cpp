// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/split.hpp"

#include <algorithm>

#include "neap/text/unicode.hpp"

namespace neap::text {
namespace {

struct Part {
  std::size_t begin;
  std::size_t end;
  bool is_match;
};
using Parts = memory::Vector<Part>;

// Joins parts by the behavior: the first of neighbours takes what follows.
void join(Parts& parts, Behavior behavior) {
  if (behavior == Behavior::kIsolated || behavior == Behavior::kRemoved ||
      parts.empty()) {
    return;
  }
  const bool is_backward = behavior == Behavior::kMergedWithNext;
  if (is_backward) {
    std::reverse(parts.begin(), parts.end());
  }
  std::size_t count = 0;
  bool was_match = false;
  for (const Part part : parts) {
    const bool joins = behavior == Behavior::kContiguous
                           ? part.is_match == was_match
                           : part.is_match && !was_match;
    was_match = part.is_match;
    if (joins && count > 0) {
      Part& into = parts[count - 1];
      into.begin = std::min(into.begin, part.begin);
      into.end = std::max(into.end, part.end);
    } else {
      parts[count++] = part;
    }
  }
  parts.resize(count, Part{});
  if (is_backward) {
    std::reverse(parts.begin(), parts.end());
  }
}

// Each character that matches is a part, and what lies between two of them.
void add_parts(std::string_view text, bool (*is_match)(char32_t),
               Parts& parts) {
  std::size_t from = 0;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = first_code_point(text.substr(at));
    const std::size_t end = at + point.length;
    if (is_match(point.code)) {
      if (from < at) {
        parts.push_back({from, at, false});
      }
      parts.push_back({at, end, true});
      from = end;
    }
    at = end;
  }
  if (from < text.size()) {
    parts.push_back({from, text.size(), false});
  }
}

// Puts the parts of one word in the place of it.
void put(const Pieces::Piece& word, Parts& parts, Behavior behavior,
         memory::Vector<Pieces::Piece>& out) {
  join(parts, behavior);
  for (const Part& part : parts) {
    const bool is_gone = behavior == Behavior::kRemoved && part.is_match;
    if (!is_gone && part.begin < part.end) {
      out.push_back({word.begin + part.begin, word.begin + part.end,
                     word.is_first && part.begin == 0});
    }
  }
  parts.clear();
}

}  // namespace

void split(Pieces& pieces, const Pattern& pattern, Behavior behavior,
           bool is_inverted) {
  memory::Vector<Pieces::Piece> out;
  out.reserve(pieces.list.size());
  Parts parts;
  Search search(pattern);
  for (const Pieces::Piece& word : pieces.list) {
    const std::string_view text = pieces.view(word);
    search.start(text);
    std::size_t at = 0;
    for (Match match; search.next(match); at = match.end) {
      if (at != match.begin) {
        parts.push_back({at, match.begin, is_inverted});
      }
      parts.push_back({match.begin, match.end, !is_inverted});
    }
    if (at != text.size()) {
      parts.push_back({at, text.size(), is_inverted});
    }
    put(word, parts, behavior, out);
  }
  pieces.list.swap(out);
}

void split_words(Pieces& pieces) {
  enum class Class { kSpace, kWord, kOther };
  memory::Vector<Pieces::Piece> out;
  out.reserve(pieces.list.size());
  Parts parts;
  for (const Pieces::Piece& word : pieces.list) {
    const std::string_view text = pieces.view(word);
    Class before = Class::kSpace;
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint point = first_code_point(text.substr(at));
      const Class now = is_word(point.code)    ? Class::kWord
                        : is_space(point.code) ? Class::kSpace
                                               : Class::kOther;
      const std::size_t end = at + point.length;
      if (now == before && !parts.empty()) {
        parts.back().end = end;
      } else {
        parts.push_back({at, end, now == Class::kSpace});
      }
      before = now;
      at = end;
    }
    put(word, parts, Behavior::kRemoved, out);
  }
  pieces.list.swap(out);
}

void split(Pieces& pieces, bool (*is_match)(char32_t), Behavior behavior) {
  memory::Vector<Pieces::Piece> out;
  out.reserve(pieces.list.size());
  Parts parts;
  for (const Pieces::Piece& word : pieces.list) {
    add_parts(pieces.view(word), is_match, parts);
    put(word, parts, behavior, out);
  }
  pieces.list.swap(out);
}

}  // namespace neap::text
