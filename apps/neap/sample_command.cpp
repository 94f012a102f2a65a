// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "sample_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <optional>
#include <vector>

#include "neap/base/shown.hpp"
#include "neap/memory/budget.hpp"
#include "neap/models/decoder.hpp"
#include "neap/models/llama.hpp"
#include "neap/models/sampling.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/report/profile_table.hpp"
#include "neap/tensor/create.hpp"
#include "neap/threads/pool.hpp"
#include "pretrained_task.hpp"
#include "sample_text.hpp"
#include "saved_model.hpp"
#include "task.hpp"

namespace neap::app {
namespace {

// Scores of what follows a text, of which each call knows one token more.
class Scorer {
 public:
  Scorer(const nn::Layer& model, std::int64_t block)
      : model_(model), block_(block) {}
  virtual ~Scorer() = default;
  Scorer(const Scorer&) = delete;
  Scorer& operator=(const Scorer&) = delete;

  /// A tensor (1, vocab), which may be read until the next call.
  virtual Tensor after(const std::vector<std::int64_t>& tokens) {
    return whole(tokens);
  }
  /// Plans that many tokens. RETURNS: what is needed; nothing: not known.
  virtual std::optional<models::DecoderNeed> prepare(std::size_t /*prompt*/,
                                                     std::int64_t /*more*/) {
    return std::nullopt;
  }

 protected:
  // The scores after the latest tokens, as many as the model sees.
  Tensor whole(const std::vector<std::int64_t>& tokens) const {
    const auto seen =
        std::min(static_cast<std::int64_t>(tokens.size()), block_);
    const Tensor input = from_span(
        std::span<const std::int64_t>(tokens.end() - seen, tokens.end()),
        {1, seen});
    return select(model_(input), 1, seen - 1);
  }
  std::int64_t block() const noexcept { return block_; }

 private:
  const nn::Layer& model_;
  std::int64_t block_;
};

// With a cache, as long as the text is no longer than that.
class CachedScorer final : public Scorer {
 public:
  CachedScorer(const nn::Layer& model, std::int64_t block)
      : Scorer(model, block), decoder_(model, {.length = block}) {}

  Tensor after(const std::vector<std::int64_t>& tokens) override {
    const auto count = static_cast<std::int64_t>(tokens.size());
    if (count > block()) {
      return whole(tokens);
    }
    if (count == 1 || decoder_.length(0) + 1 != count) {
      return decoder_.start(std::span(&tokens, 1));
    }
    return decoder_.next(std::span(tokens).last(1));
  }
  std::optional<models::DecoderNeed> prepare(std::size_t prompt,
                                             std::int64_t more) override {
    const auto first = static_cast<std::int64_t>(prompt);
    if (first > block()) {
      return std::nullopt;
    }
    return decoder_.prepare(first, std::min(first + more - 1, block()));
  }

 private:
  models::Decoder decoder_;
};

// A cache has no place for keys that turn further as a text grows.
bool may_be_cached(const nn::Layer& model, std::int64_t block) {
  if (const auto* llama = dynamic_cast<const models::Llama*>(&model)) {
    const std::int64_t trained = llama->options().rope.trained;
    return trained == 0 || block <= trained;
  }
  return dynamic_cast<const models::Gpt*>(&model) != nullptr;
}

std::unique_ptr<Scorer> scorer_of(const nn::Layer& model, std::int64_t block) {
  if (may_be_cached(model, block)) {
    return std::make_unique<CachedScorer>(model, block);
  }
  return std::make_unique<Scorer>(model, block);
}

void say_need(const models::DecoderNeed& need) {
  fmt::print(stderr, "needs {}: weights and cache {}, arena {}, programs {}\n",
             format_bytes(need.peak()), format_bytes(need.persistent),
             format_bytes(need.arena), format_bytes(need.programs));
}

// Each token reads every weight: no machine is faster than its memory.
void say_speed(const nn::Layer& model, std::int64_t tokens, double seconds) {
  Bytes weights = 0;
  for (const nn::Parameter& parameter : model.parameters()) {
    weights +=
        parameter.tensor.element_count() * size_of(parameter.tensor.dtype());
  }
  const double bandwidth = report::measure_limits().bytes;
  fmt::print(stderr,
             "{} tokens in {:.2f} s: {:.1f} tokens/s; weights of {} at {:.1f} "
             "GB/s would be {:.1f}\n",
             tokens, seconds, static_cast<double>(tokens) / seconds,
             format_bytes_short(weights), bandwidth * 1e-9,
             bandwidth / static_cast<double>(weights));
}

class Writer {
 public:
  Writer(nn::Layer& model, const Codec& codec, std::int64_t block,
         const SampleSettings& settings, std::vector<std::int64_t> ends = {})
      : model_(model),
        codec_(codec),
        scorer_(scorer_of(model, block)),
        settings_(settings),
        ends_(std::move(ends)),
        out_(codec, settings.stops) {}

  /// Ends early where standard output takes no more; the failure stays in the
  /// stream, where the program's end finds it.
  void run(std::vector<std::int64_t> tokens) {
    begin(tokens);
    const std::size_t prompt = tokens.size();
    const auto from = std::chrono::steady_clock::now();
    models::TokenSampler sampler({.temperature = settings_.temperature,
                                  .top_k = settings_.top_k,
                                  .top_p = settings_.top_p},
                                 settings_.seed);
    for (std::int64_t i = 0; i < settings_.length; ++i) {
      const std::int64_t token = sampler.choose(scorer_->after(tokens), 0);
      if (std::ranges::find(ends_, token) != ends_.end()) {
        break;
      }
      tokens.push_back(token);
      if (!out_.add(tokens)) {
        break;
      }
    }
    const std::chrono::duration<double> took =
        std::chrono::steady_clock::now() - from;
    out_.end(tokens);
    if (settings_.is_reported) {
      say_speed(model_, static_cast<std::int64_t>(tokens.size() - prompt),
                took.count());
    }
  }

 private:
  void begin(std::vector<std::int64_t>& tokens) {
    const bool is_empty = tokens.empty();
    if (is_empty) {
      tokens.push_back(codec_.start());
    }
    const auto need = scorer_->prepare(tokens.size(), settings_.length);
    if (settings_.is_reported && need) {
      say_need(*need);
    }
    if (is_empty) {
      out_.pass_over(1);
    } else {
      out_.begin(tokens);
    }
  }

  nn::Layer& model_;
  const Codec& codec_;
  std::unique_ptr<Scorer> scorer_;
  const SampleSettings& settings_;
  std::vector<std::int64_t> ends_;  // tokens that are the last of a text
  TextOut out_;
};

ExitCode sample_pretrained(const SampleSettings& s) {
  TrainSettings settings;
  settings.from = s.from;
  settings.adapter = s.adapter;
  settings.weights = s.weights;
  settings.model = kPretrained;
  settings.verify = s.verify == "on";
  settings.block = 0;  // as many as the model has
  const auto config = look_at_pretrained(settings);
  if (!config) {
    return fail(ExitCode::kData, config.error().message);
  }
  const auto tokenizer = open_tokenizer(s.from);
  if (!tokenizer) {
    return fail(ExitCode::kData, tokenizer.error().message);
  }
  threads::set_default_threads(static_cast<int>(s.threads));
  const NoGrad no_grad;
  const std::unique_ptr<nn::Layer> model = make_pretrained_model(settings);
  if (!s.load.empty()) {
    settings.load = s.load;
    if (auto loaded = load_over(*model, settings); !loaded) {
      return fail(ExitCode::kData, loaded.error().message);
    }
  }
  model->eval();
  const auto prompt = tokenizer->encode(s.prompt);
  for (const std::int64_t token : prompt) {
    if (token >= models::vocab_of(*config)) {
      return fail(ExitCode::kData,
                  base::shown_path(s.from) +
                      ": its tokenizer has tokens that its model has not");
    }
  }
  const auto ends = models::read_stop_tokens(s.from);
  if (!ends) {
    return fail(ExitCode::kData, ends.error().message);
  }
  const TokenizerCodec codec(*tokenizer);
  Writer(*model, codec, std::min(s.block, models::block_of(*config)), s,
         s.goes_past_end ? std::vector<std::int64_t>{} : *ends)
      .run({prompt.begin(), prompt.end()});
  return ExitCode::kOk;
}

}  // namespace

ExitCode sample(const SampleSettings& settings) {
  std::optional<Budget> budget;
  if (settings.budget != kUnlimited) {
    budget.emplace(settings.budget);
  }
  if (!settings.from.empty()) {
    return sample_pretrained(settings);
  }
  if (!settings.adapter.empty()) {
    return fail(ExitCode::kUsage,
                "--adapter: --from must say which model it is for");
  }
  if (settings.weights != "f32") {
    return fail(ExitCode::kUsage,
                "--weights: --from must say which model it is for");
  }
  if (settings.load.empty()) {
    return fail(ExitCode::kUsage,
                "sample needs --load FILE: a checkpoint that neap train saved; "
                "or --from DIR");
  }
  const formats::Verify verify = verify_of(settings.verify == "on");
  const auto saved = describe_saved(settings.load, verify);
  if (!saved) {
    return fail(ExitCode::kData, saved.error().message);
  }
  if (!is_language_model(saved->settings.model) || !saved->vocabulary) {
    return fail(ExitCode::kData,
                base::shown_path(settings.load) +
                    ": not a checkpoint of a language model, with "
                    "its vocabulary");
  }
  threads::set_default_threads(static_cast<int>(settings.threads));
  const data::Vocabulary& vocabulary = *saved->vocabulary;
  const auto prompt = vocabulary.encode(settings.prompt);
  if (!prompt) {
    return fail(ExitCode::kUsage, "--prompt: " + prompt.error().message);
  }
  const NoGrad no_grad;
  const auto make = [&] {
    return make_language_model(saved->settings, vocabulary.size());
  };
  if (auto good = check_fits(make, settings.load); !good) {
    return fail(ExitCode::kData, good.error().message);
  }
  const std::unique_ptr<nn::Layer> model = make();
  if (auto loaded = load_into(*model, settings.load, verify); !loaded) {
    return fail(ExitCode::kData, loaded.error().message);
  }
  model->eval();
  const SymbolCodec codec(vocabulary);
  Writer(*model, codec, saved->settings.block, settings)
      .run({prompt->begin(), prompt->end()});
  return ExitCode::kOk;
}

}  // namespace neap::app
