// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/generate.hpp"

#include <algorithm>

#include "neap/base/raise.hpp"

namespace neap::models {
namespace {

// A text that grows until it ends.
struct Sample {
  TokenSampler sampler;
  std::vector<std::int64_t> tokens{};
  bool is_over = false;
};

class Generation {
 public:
  Generation(Decoder& decoder, const GenerateOptions& options)
      : decoder_(decoder), options_(options) {
    if (options.tokens < 0) {
      base::raise<ValueError>("generate: {} tokens, expected 0 or more",
                              options.tokens);
    }
    for (std::int64_t i = 0; i < decoder.samples(); ++i) {
      samples_.push_back({TokenSampler(
          options.sampling, options.seed + static_cast<std::uint64_t>(i))});
    }
    next_.assign(samples_.size(), Decoder::kRest);
  }

  std::vector<std::vector<std::int64_t>> run(
      std::span<const std::vector<std::int64_t>> prompts) {
    Tensor scores = decoder_.start(prompts);
    for (std::int64_t n = 0; n < options_.tokens; ++n) {
      for (std::size_t i = 0; i < samples_.size(); ++i) {
        next_[i] = choose(i, scores);
      }
      if (std::ranges::all_of(samples_, &Sample::is_over) ||
          n + 1 == options_.tokens) {
        break;
      }
      scores = decoder_.next(next_);
    }
    std::vector<std::vector<std::int64_t>> texts;
    for (Sample& sample : samples_) {
      texts.push_back(std::move(sample.tokens));
    }
    return texts;
  }

 private:
  // The sample's next token, or kRest where it is over.
  std::int64_t choose(std::size_t i, const Tensor& scores) {
    Sample& sample = samples_[i];
    const auto number = static_cast<std::int64_t>(i);
    if (sample.is_over) {
      return Decoder::kRest;
    }
    const std::int64_t token = sample.sampler.choose(scores, number);
    sample.tokens.push_back(token);
    const bool goes_on = !options_.on_token || options_.on_token(number, token);
    sample.is_over = !goes_on ||
                     std::ranges::find(options_.stop_tokens, token) !=
                         options_.stop_tokens.end() ||
                     decoder_.length(number) == decoder_.capacity();
    return sample.is_over ? Decoder::kRest : token;
  }

  Decoder& decoder_;
  const GenerateOptions& options_;
  std::vector<Sample> samples_;
  std::vector<std::int64_t> next_;
};

}  // namespace

std::vector<std::vector<std::int64_t>> generate(
    Decoder& decoder, std::span<const std::vector<std::int64_t>> prompts,
    const GenerateOptions& options) {
  return Generation(decoder, options).run(prompts);
}

}  // namespace neap::models
