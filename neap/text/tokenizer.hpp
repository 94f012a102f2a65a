// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tokenizer: text to ids and back, as pretrained models have it, read from the
// tokenizer.json of Hugging Face's tokenizers library and giving the same ids:
// byte-level BPE (GPT-2, Llama 3, Qwen2), BPE with a token for each byte (Llama
// 2, Mistral) and WordPiece (BERT), with their normalizers, pre-tokenizers,
// post-processors and decoders. What a file asks for and this does not have is
// refused when it is opened, by name.
//
// A tokenizer owns its memory, which is of the domain in which it was opened.
// It is read-only: any number of threads may encode and decode at once.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "neap/base/api.hpp"
#include "neap/base/result.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/containers.hpp"

namespace neap::text {

struct EncodeOptions {
  /// With those that the file's post-processor puts around a text ([CLS], <s>).
  bool add_special_tokens = true;
  /// With what the file's `truncation` says; without one, nothing is cut.
  bool truncate = false;
  /// With what the file's `padding` says: up to its fixed length or multiple.
  /// The longest of a batch is not known here.
  bool pad = false;
};

struct DecodeOptions {
  /// Special tokens among the ids leave nothing in the text.
  bool skip_special_tokens = true;
};

class TokenizerParts;

class NEAP_API Tokenizer {
 public:
  /// Reads a tokenizer.json; one that begins as gzip does is inflated.
  /// Failures: those of the file; kCorrupt for what is not JSON of the form, or
  /// contradicts itself (an id given twice, a merge of no tokens); kTooLarge
  /// beyond 256 MiB; kUnsupported for what is not implemented, by its name.
  /// THROWS: OutOfMemory.
  [[nodiscard]] static Result<Tokenizer> open(
      const std::string& path, files::Door& door = files::system_door());
  /// The same from the text of such a file; messages begin with `name`.
  [[nodiscard]] static Result<Tokenizer> parse(
      std::string_view json, std::string_view name = "tokenizer.json");

  Tokenizer(Tokenizer&&) noexcept;
  Tokenizer& operator=(Tokenizer&&) noexcept;
  ~Tokenizer();

  /// The ids of a text. Bytes that are not UTF-8 are taken for U+FFFD, one for
  /// each longest beginning of a character. Time and memory are linear in the
  /// text, but for sorting and merging, which are n log n in a word.
  /// THROWS: ValueError where a pattern of the file takes more steps on this
  /// text than are allowed; OutOfMemory.
  memory::Vector<std::int64_t> encode(std::string_view text,
                                      EncodeOptions options = {}) const;
  /// The text of ids, as UTF-8: bytes of a character that is not whole become
  /// U+FFFD. THROWS: ValueError for an id without a token, or of a pattern;
  /// OutOfMemory.
  memory::String decode(std::span<const std::int64_t> ids,
                        DecodeOptions options = {}) const;

  /// The number of tokens, added ones included.
  std::int64_t vocab_size() const noexcept;
  /// Above every id: rows that an embedding needs. Ids may leave gaps.
  std::int64_t id_limit() const noexcept;
  /// The id of a token as the file writes it; -1: there is none.
  std::int64_t id_of(std::string_view token) const noexcept;
  /// The token of an id, as the file writes it (a byte-level model's space is
  /// U+0120). LIFETIME: the tokenizer's. THROWS: ValueError where it has none.
  std::string_view token_of(std::int64_t id) const;
  /// True for an id of a special token.
  bool is_special(std::int64_t id) const noexcept;

 private:
  explicit Tokenizer(memory::Owned<TokenizerParts> parts) noexcept;

  memory::Owned<TokenizerParts> parts_;
};

}  // namespace neap::text
