// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/text/merge_words.hpp"

#include <algorithm>

namespace neap::text {

void MergedWords::add(std::span<const std::uint32_t> symbols,
                      std::int64_t count) {
  words_.push_back({symbols_.size(), symbols.size(), count});
  symbols_.insert(symbols_.end(), symbols.begin(), symbols.end());
}

void MergedWords::count_pairs() {
  for (std::uint32_t at = 0; at < words_.size(); ++at) {
    const Word& word = words_[at];
    for (std::size_t i = 0; i + 1 < word.size; ++i) {
      change(symbols_[word.begin + i], symbols_[word.begin + i + 1], 1, at);
    }
  }
  queue_fresh();
}

void MergedWords::change(std::uint32_t first, std::uint32_t second, int by,
                         std::uint32_t word) {
  const std::uint64_t pair = pair_key(first, second);
  counts_.at(pair) += by * words_[word].count;
  if (by > 0) {
    fresh_.push_back({pair, word});
  }
}

// Each pair with the words in which it is new. One that is in the queue already
// is there twice then, and each time with other words.
void MergedWords::queue_fresh() {
  std::sort(fresh_.begin(), fresh_.end());
  fresh_.erase(std::unique(fresh_.begin(), fresh_.end()), fresh_.end());
  for (std::size_t at = 0; at < fresh_.size();) {
    const std::uint64_t pair = fresh_[at].pair;
    Queued queued{*counts_.find(pair), pair, places_.size(), 0};
    for (; at < fresh_.size() && fresh_[at].pair == pair; ++at) {
      places_.push_back(fresh_[at].word);
    }
    queued.end = places_.size();
    if (queued.count > 0) {
      queue_.push_back(queued);
      std::push_heap(queue_.begin(), queue_.end());
    }
  }
  fresh_.clear();
}

bool MergedWords::pop(Top& out) {
  while (!queue_.empty()) {
    std::pop_heap(queue_.begin(), queue_.end());
    Queued& last = queue_.back();
    const std::int64_t count = *counts_.find(last.pair);
    if (last.count != count && count > 0) {  // fewer are left since
      last.count = count;
      std::push_heap(queue_.begin(), queue_.end());
      continue;
    }
    top_ = last;
    queue_.pop_back();
    if (count > 0) {
      out = {static_cast<std::uint32_t>(top_.pair >> 32U),
             static_cast<std::uint32_t>(top_.pair), count};
      return true;
    }
  }
  return false;
}

void MergedWords::merge(std::uint32_t into) {
  for (std::size_t at = top_.begin; at < top_.end; ++at) {
    merge_word(places_[at], into);
  }
  queue_fresh();
}

// Goes from left to right; symbols before the place `kept` are as they will be.
void MergedWords::merge_word(std::uint32_t at, std::uint32_t into) {
  const auto first = static_cast<std::uint32_t>(top_.pair >> 32U);
  const auto second = static_cast<std::uint32_t>(top_.pair);
  Word& word = words_[at];
  std::uint32_t* const symbols = symbols_.data() + word.begin;
  std::size_t kept = 0;
  for (std::size_t i = 0; i < word.size; ++i) {
    const bool is_pair =
        symbols[i] == first && i + 1 < word.size && symbols[i + 1] == second;
    if (!is_pair) {
      symbols[kept++] = symbols[i];
      continue;
    }
    if (kept > 0) {
      change(symbols[kept - 1], first, -1, at);
      change(symbols[kept - 1], into, 1, at);
    }
    symbols[kept++] = into;
    ++i;
    if (i + 1 < word.size) {
      change(second, symbols[i + 1], -1, at);
      change(into, symbols[i + 1], 1, at);
    }
  }
  word.size = kept;
}

}  // namespace neap::text
