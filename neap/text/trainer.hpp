// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// BpeTrainer: learns a byte-level BPE from texts. The same data and settings
// give the merges, in their order, that the BpeTrainer of Hugging Face's
// tokenizers gives with its ByteLevel pre-tokenizer and alphabet: the most
// frequent pair first, of equal ones that of the lowest ids.
//
//   text::BpeTrainer trainer({.vocab_size = 4096});
//   trainer.add_file("kjv.txt").value();
//   const memory::String json = trainer.train();  // a tokenizer.json
//
// One thread at a time.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/containers.hpp"

namespace neap::text {

struct TrainOptions {
  /// Tokens at most, special ones and the 256 bytes included: those come first,
  /// and are all there is where this is less.
  std::int64_t vocab_size = 30'000;
  /// A pair that occurs less often is not merged.
  std::int64_t min_frequency = 0;
  /// The first ids, in this order. LIFETIME: the trainer's.
  std::span<const std::string> special_tokens = {};
};

class NEAP_API BpeTrainer {
 public:
  /// THROWS: ValueError for a size beyond 16 777 215, a negative number, or a
  /// special token that is empty or not UTF-8; OutOfMemory.
  explicit BpeTrainer(const TrainOptions& options);
  BpeTrainer(BpeTrainer&&) noexcept;
  ~BpeTrainer();

  /// Counts the words of a text, line by line: a word ends with its line.
  /// Failure kCorrupt where it is not UTF-8, and the words of lines before stay
  /// counted. THROWS: OutOfMemory.
  [[nodiscard]] Result<void> add(std::string_view text);
  /// The same of a file; one that begins as gzip does is inflated. Memory is
  /// for the longest line and the different words. Failures: of the file, too.
  [[nodiscard]] Result<void> add_file(const std::string& path,
                                      files::Door& door = files::system_door());

  /// Different words so far.
  std::int64_t word_count() const noexcept;

  /// The text of a tokenizer.json. Time is that of counting pairs, and of each
  /// merge in the words that have it. THROWS: OutOfMemory.
  memory::String train() const;

 private:
  class Words;
  TrainOptions options_;
  memory::Owned<Words> words_;
};

}  // namespace neap::text
