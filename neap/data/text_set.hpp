// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// TextSet: a text as training data for a model that predicts the next token. A
// sample is a block of tokens and the block one token on, both i64 (block):
//
//   tokens   | t0 | t1 | t2 | t3 | t4 | ...      block = 3, stride = 3
//   input 0  | t0   t1   t2 |
//   target 0      | t1   t2   t3 |
//   input 1                 | t3   t4 ...
//
//   auto sets = data::read_text(door, "kjv.txt", {.block = 256});
//   data::Loader loader(sets->train, {.batch = 32, .prefetch = 1});
//   models::Gpt model({.vocab = sets->train.vocabulary().size(), ...});
#pragma once

#include <string>
#include <string_view>

#include "neap/data/dataset.hpp"
#include "neap/data/vocabulary.hpp"
#include "neap/files/door.hpp"

namespace neap::data {

/// A text as tokens, each in one byte where there are at most 256 of them, else
/// in two, three or four. A value: copies share the tokens.
class NEAP_API Text {
 public:
  /// `tokens` (n, 1 or 2) u8: the bytes of a token, lower one first; each token
  /// is one of the vocabulary. THROWS: ShapeError, DTypeError.
  Text(Tensor tokens, Vocabulary vocabulary);
  /// A text by a tokenizer, without a vocabulary of symbols: vocabulary() is
  /// that of bytes, and says nothing of it. `tokens` (n, 1 to 4) u8, as above.
  /// THROWS: ShapeError, DTypeError.
  explicit Text(Tensor tokens);

  std::int64_t size() const noexcept { return size_; }
  const Vocabulary& vocabulary() const noexcept { return vocabulary_; }
  Bytes bytes() const;

  std::uint64_t fingerprint() const;
  /// Tokens [first, first + tokens.size()). REQUIRES: they are there.
  void copy(std::int64_t first, std::span<std::int64_t> tokens) const noexcept;

 private:
  Tensor tokens_;
  Vocabulary vocabulary_;
  std::int64_t size_;
  std::int64_t width_;  // bytes of a token
};

/// Ids of a tokenizer below `limit`, in as few bytes each as hold them.
/// THROWS: ValueError for an id outside [0, limit), or a limit above 2^32;
/// OutOfMemory.
[[nodiscard]] NEAP_API Text text_of_ids(std::span<const std::int64_t> ids,
                                        std::int64_t limit);

/// The text of a file, plain or gzipped, or of memory. It is read twice, so
/// that only its tokens and small buffers are ever held. Failures: kCorrupt
/// where characters are asked for and it is not UTF-8 (the message names the
/// byte), or where the file changes meanwhile; kUnsupported for more than 65
/// 536 characters; file-system failures. THROWS: OutOfMemory.
[[nodiscard]] NEAP_API Result<Text> tokenise_file(files::Door& door,
                                                  const std::string& path,
                                                  Symbols symbols);
[[nodiscard]] NEAP_API Result<Text> tokenise(std::string_view text,
                                             Symbols symbols);

struct BlockOptions {
  std::int64_t block = 256;  // tokens in a sample's input
  std::int64_t begin = 0;  // begin of the text's part that samples are cut from
  std::int64_t end = -1;   // end of that part; -1: the text's end
  /// Tokens from a sample's start to the next one's; 0: block.
  std::int64_t stride = 0;
  /// Each sample starts anywhere, every start as likely as the others, and
  /// drawn again in each epoch: a function of seed, epoch and the sample's
  /// index alone.
  bool random = false;
  std::uint64_t seed = 0;
  /// Samples of an epoch, where random; 0: as many as there are otherwise.
  std::int64_t samples = 0;
};

class NEAP_API TextSet {
 public:
  /// A part of fewer than block + 1 tokens has no sample. THROWS: ValueError
  /// unless block > 0, stride and samples >= 0, and 0 <= begin <= end <= size.
  TextSet(Text text, const BlockOptions& options);

  const Vocabulary& vocabulary() const noexcept { return text_.vocabulary(); }
  const BlockOptions& options() const noexcept { return options_; }
  /// The bytes of the whole text, which copies share.
  Bytes bytes() const { return text_.bytes(); }
  /// The tokens of the part that samples are cut from.
  std::int64_t tokens() const noexcept { return options_.end - options_.begin; }

  // Dataset: input and target i64 (block).
  std::int64_t size() const noexcept { return size_; }
  SampleSpec spec() const;
  void load(SampleId id, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept;
  /// The fingerprint of the whole text, and of how samples are cut from it.
  std::uint64_t fingerprint() const;

 private:
  std::int64_t start_of(SampleId id) const noexcept;

  Text text_;
  BlockOptions options_;
  std::int64_t starts_;  // number of positions that a block can start at
  std::int64_t size_;
};

struct TextOptions {
  Symbols symbols = Symbols::kCharacters;
  std::int64_t block = 256;
  /// Share of the text kept for validation: its end.
  double validation = 0.1;
  std::uint64_t seed = 0;    // seed of the blocks' starts
  std::int64_t samples = 0;  // samples of an epoch; 0: as many as blocks fit
};

/// The two parts of one text, with one vocabulary.
struct TextParts {
  TextSet train;       // random blocks
  TextSet validation;  // block after block, from its start
};

/// Failures: kMismatch where a part has no whole block; those of tokenise().
/// THROWS: ValueError unless validation is in [0, 1) and block > 0;
/// OutOfMemory.
[[nodiscard]] NEAP_API Result<TextParts> read_text(files::Door& door,
                                                   const std::string& path,
                                                   const TextOptions& options);
/// The same of a text that is there. Failure kMismatch as above.
[[nodiscard]] NEAP_API Result<TextParts> split_text(const Text& text,
                                                    const TextOptions& options);

}  // namespace neap::data
