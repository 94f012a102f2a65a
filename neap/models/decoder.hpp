// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Decoder: scores of what follows texts that grow token by token, by a model
// and a KvCache. Prompts of several samples go through at once, padded; then
// each call takes one token of every sample. Both are programs of one compiled
// step, in one arena; shapes are rounded up, so that there is no trace for a
// token, but at 64, 128, 256, .. of them.
//
//   models::Decoder decoder(*model, {.length = 256});
//   Tensor scores = decoder.start(prompts);       // (samples, vocab)
//   while (...) {
//     const auto tokens = ...;                    // one for each sample
//     scores = decoder.next(tokens);
//   }
//
// models/generate.hpp chooses tokens.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "neap/base/outside.hpp"
#include "neap/compile/compile.hpp"
#include "neap/models/kv_cache.hpp"
#include "neap/nn/layer.hpp"

namespace neap::models {

/// A model as a Decoder sees it; causal_model() makes one of this room's.
struct CausalModel {
  KvSizes cache{};
  std::int64_t vocab = 0;
  std::int64_t block = 0;  // tokens in a row, at most
  DType dtype = f32;
  /// Tokens (b, t), i64, to scores (b, vocab). LIFETIME: what it refers to.
  std::function<Tensor(const Tensor& tokens, KvPass& pass)> decode{};
  const nn::Module* module = nullptr;  // must be in evaluation mode
};

/// The view of a Gpt or a Llama. LIFETIME: the model's. THROWS: ValueError for
/// any other layer.
NEAP_API CausalModel causal_model(const nn::Layer& model);

struct DecoderOptions {
  std::int64_t samples = 1;  // texts at once
  std::int64_t length = 0;   // tokens of each, with its prompt; 0: the model's
  /// The compiled step's options; `keep_all` and `max_batch` are not for it.
  CompileOptions compile{.programs = 32};
};

/// The bytes of a decoder, known before it runs.
struct DecoderNeed {
  Bytes persistent = 0;  // weights, the cache, constants
  Bytes arena = 0;       // of all programs
  Bytes programs = 0;    // themselves, and their plans
  Bytes peak() const noexcept { return persistent + arena + programs; }
};

class NEAP_API Decoder {
 public:
  /// Allocates the cache. THROWS: ValueError for a length beyond the model's
  /// block or below 1, or for fewer than 1 sample; as KvCache and compile.
  explicit Decoder(CausalModel model, const DecoderOptions& options = {},
                   CallSite site = CallSite::here());
  explicit Decoder(const nn::Layer& model, const DecoderOptions& options = {},
                   CallSite site = CallSite::here());
  ~Decoder() = default;
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;

  /// Plans, without running, all that `tokens` of each sample need, of which
  /// the longest prompt has `prompt`; nothing is traced or planned after that.
  /// The arguments, 8 bytes for each token of padded prompts, are beside it.
  /// THROWS: ValueError for sizes that do not go together; as start().
  DecoderNeed prepare(std::int64_t prompt, std::int64_t tokens);

  /// Forgets all, and takes a prompt of at least one token for each sample.
  /// RETURNS: scores (samples, vocab) of what follows, which may be read until
  /// the next call. THROWS: ValueError for another number of prompts, an empty
  /// one, one beyond the length, no such token, or a model in training mode;
  /// as the compiled step; TraceError in a step that is traced. After a throw
  /// the decoder has no text.
  Tensor start(std::span<const std::vector<std::int64_t>> prompts,
               CallSite site = CallSite::here());
  /// In place of a token: the sample stays as it is, and its scores mean
  /// nothing.
  static constexpr std::int64_t kRest = -1;
  /// The same of one more token for each sample. THROWS: as start(); ValueError
  /// before it, or for a token of a sample that is full. The texts are then as
  /// before.
  Tensor next(std::span<const std::int64_t> tokens,
              CallSite site = CallSite::here());

  std::int64_t samples() const noexcept { return cache_.samples(); }
  std::int64_t vocab() const noexcept { return model_.vocab; }
  std::int64_t capacity() const noexcept { return cache_.length(); }
  /// The tokens of a sample so far.
  std::int64_t length(std::int64_t sample,
                      CallSite site = CallSite::here()) const {
    base::tell_of_question("length", kAbout, site);
    return lengths_.at(static_cast<std::size_t>(sample));
  }
  const KvCache& cache() const noexcept { return cache_; }

  // --- of the compiled step -------------------------------------------------

  Bytes arena_bytes() const { return step_.arena_bytes(); }
  int programs() const { return step_.programs(); }
  std::int64_t traces() const { return step_.traces(); }
  compiler::Measured measured() const { return step_.measured(); }

 private:
  static constexpr const char* kAbout = "about a text that grows";

  // Made of references, so that the decoder must stay where it is.
  struct Pass {
    const CausalModel* model;
    const KvCache* cache;
    Tensor operator()(const Tensor& tokens, const Tensor& positions,
                      const Tensor& slots) const;
  };

  void check_ready() const;
  void check_token(std::int64_t token) const;
  void check_next(std::span<const std::int64_t> tokens) const;
  std::int64_t padded(std::int64_t tokens) const noexcept;
  std::int64_t slots_for(std::int64_t tokens) const noexcept;
  void use_slots(std::int64_t count);

  CausalModel model_;
  KvCache cache_;
  memory::Vector<std::int64_t> lengths_;
  compiler::Compiled<Pass> step_;
  // Arguments, made once: the host writes into them.
  Tensor all_slots_;  // 0, 1, .. of the cache
  Tensor slots_;      // the first of them
  Tensor tokens_;     // (samples, 1)
  Tensor positions_;  // (samples)
};

}  // namespace neap::models
