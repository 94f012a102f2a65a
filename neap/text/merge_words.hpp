// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// MergedWords: words as symbols, their pairs counted, and the most frequent
// pair merged again and again. Of this room alone.
#pragma once

#include <cstdint>
#include <span>

#include "neap/memory/containers.hpp"
#include "neap/text/pair_table.hpp"

namespace neap::text {

class MergedWords {
 public:
  /// A word that occurs `count` times.
  void add(std::span<const std::uint32_t> symbols, std::int64_t count);
  /// Counts the pairs of all words. THROWS: OutOfMemory.
  void count_pairs();

  struct Top {
    std::uint32_t first = 0;
    std::uint32_t second = 0;
    std::int64_t count = 0;
  };
  /// Takes the most frequent pair from the queue. False: there is none.
  bool pop(Top& out);
  /// Merges what pop() gave, in all its words. THROWS: OutOfMemory.
  void merge(std::uint32_t into);

 private:
  struct Word {
    std::size_t begin = 0;
    std::size_t size = 0;
    std::int64_t count = 0;
  };
  // A pair, with its count and words when it was put here.
  struct Queued {
    std::int64_t count = 0;
    std::uint64_t pair = 0;
    std::size_t begin = 0;  // of its words, in `places_`
    std::size_t end = 0;
    // Standard heaps have the largest in front.
    friend bool operator<(const Queued& a, const Queued& b) noexcept {
      return a.count != b.count ? a.count < b.count : a.pair > b.pair;
    }
  };
  struct Place {
    std::uint64_t pair = 0;
    std::uint32_t word = 0;
    friend auto operator<=>(const Place&, const Place&) = default;
  };
  void merge_word(std::uint32_t at, std::uint32_t into);
  void change(std::uint32_t first, std::uint32_t second, int by,
              std::uint32_t word);
  void queue_fresh();

  memory::Vector<std::uint32_t> symbols_;
  memory::Vector<Word> words_;
  PairTable<std::int64_t> counts_;
  memory::Vector<Queued> queue_;          // a heap
  memory::Vector<std::uint32_t> places_;  // words of queued pairs
  memory::Vector<Place> fresh_;           // pairs that became more frequent
  Queued top_;
};

}  // namespace neap::text
