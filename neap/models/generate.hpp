// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// generate: texts continued by a Decoder and a TokenSampler for each.
//
//   models::Decoder decoder(*model, {.samples = 2});
//   const auto texts = models::generate(
//       decoder, {tokenizer.encode("To be"), tokenizer.encode("I am")},
//       {.sampling = {.temperature = 0.8, .top_p = 0.9}, .tokens = 200});
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "neap/models/decoder.hpp"
#include "neap/models/sampling.hpp"

namespace neap::models {

struct GenerateOptions {
  SamplingOptions sampling{};
  std::int64_t tokens = 100;  // new ones of each sample, at most; at least 0
  /// Sample i draws from seed + i, so that it is the same alone.
  std::uint64_t seed = 0;
  /// A sample ends behind one of these, which is a part of its result.
  std::vector<std::int64_t> stop_tokens{};
  /// Called for each new token, in order of samples; false ends the sample.
  std::function<bool(std::int64_t sample, std::int64_t token)> on_token{};
};

/// The new tokens of each sample: fewer than asked for where one ends, or where
/// the decoder has no more room for it. THROWS: as Decoder and TokenSampler;
/// ValueError for a negative number of tokens; what on_token throws.
NEAP_API std::vector<std::vector<std::int64_t>> generate(
    Decoder& decoder, std::span<const std::vector<std::int64_t>> prompts,
    const GenerateOptions& options = {});

}  // namespace neap::models
