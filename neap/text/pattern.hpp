// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Pattern: a compiled regular expression over UTF-8, by PCRE2, without its
// compiler of machine code. All its memory is the current domain's. A pattern
// is read-only once it is made: any number of threads match by it, each with a
// Search of its own.
#pragma once

#include <cstddef>
#include <exception>
#include <string_view>

#include "neap/memory/containers.hpp"

namespace neap::text {

class Pattern {
 public:
  /// Matches nothing; search by it is not allowed.
  Pattern() noexcept = default;
  /// A pattern in Oniguruma's syntax. THROWS: Refused, which shows it and says
  /// why; OutOfMemory.
  static Pattern of_regex(std::string_view regex);
  /// The text itself. THROWS: Refused where it is empty; OutOfMemory.
  static Pattern of_literal(std::string_view text);

  Pattern(Pattern&& other) noexcept;
  Pattern& operator=(Pattern&& other) noexcept;
  ~Pattern();

 private:
  friend class Search;
  static Pattern compile(const memory::String& pattern, std::string_view shown);

  void* code_ = nullptr;  // pcre2_code_8
};

struct Match {
  std::size_t begin = 0;
  std::size_t end = 0;
};

/// The matches of a pattern in texts, one text after the other, from left to
/// right. LIFETIME: the pattern outlives it, a text its matches.
class Search {
 public:
  /// THROWS: OutOfMemory.
  explicit Search(const Pattern& pattern);
  Search(const Search&) = delete;
  Search& operator=(const Search&) = delete;
  ~Search();

  /// Begins at the front of a text. REQUIRES: it is UTF-8.
  void start(std::string_view text) noexcept;
  /// False: there is no further one. An empty match right behind the one before
  /// is none. THROWS: ValueError where the pattern takes more steps or memory
  /// than are allowed for one match; OutOfMemory.
  bool next(Match& out);

 private:
  const Pattern& pattern_;
  std::string_view text_;
  std::size_t from_ = 0;
  std::size_t last_end_ = 0;  // of the match before
  bool has_last_ = false;
  std::exception_ptr refused_;  // why PCRE2 last got no memory
  void* match_ = nullptr;       // pcre2_match_data_8
  void* limits_ = nullptr;      // pcre2_match_context_8
};

}  // namespace neap::text
