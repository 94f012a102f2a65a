// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "sample_command.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <vector>

#include "neap/base/shown.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/threads/pool.hpp"
#include "saved_model.hpp"
#include "task.hpp"

namespace neap::app {
namespace {

// Chooses one of the likeliest tokens, each as likely as its share of exp(score
// / t).
std::int64_t choose(std::span<const double> scores, const SampleSettings& s) {
  std::vector<std::size_t> order(scores.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(
      order.begin(), order.end(),
      [&](std::size_t a, std::size_t b) { return scores[a] > scores[b]; });
  if (s.temperature == 0.0) {
    return static_cast<std::int64_t>(order.front());
  }
  if (s.top_k > 0 && static_cast<std::size_t>(s.top_k) < order.size()) {
    order.resize(static_cast<std::size_t>(s.top_k));
  }
  std::vector<double> shares;
  shares.reserve(order.size());
  for (const std::size_t token : order) {
    shares.push_back(
        std::exp((scores[token] - scores[order.front()]) / s.temperature));
  }
  double left = rand({1}, f64).to_vector()[0] *
                std::accumulate(shares.begin(), shares.end(), 0.0);
  std::size_t at = 0;
  while (at + 1 < shares.size() && left >= shares[at]) {
    left -= shares[at++];
  }
  return static_cast<std::int64_t>(order[at]);
}

class Writer {
 public:
  Writer(nn::Layer& model, const data::Vocabulary& vocabulary,
         std::int64_t block, const SampleSettings& settings)
      : model_(model),
        vocabulary_(vocabulary),
        block_(block),
        settings_(settings) {}

  /// Ends early where standard output takes no more; the failure stays in the
  /// stream, where the program's end finds it.
  void run(std::vector<std::int64_t> tokens) {
    print(tokens);
    if (tokens.empty()) {
      // A line's end stands before what has nothing before it.
      tokens.push_back(std::max<std::int64_t>(vocabulary_.token_of(U'\n'), 0));
    }
    for (std::int64_t i = 0; i < settings_.length && std::ferror(stdout) == 0;
         ++i) {
      tokens.push_back(choose(scores_after(tokens), settings_));
      print(std::span(tokens).last(1));
    }
    static_cast<void>(std::fputc('\n', stdout));
  }

 private:
  memory::Vector<double> scores_after(
      const std::vector<std::int64_t>& tokens) const {
    const auto seen = static_cast<std::int64_t>(
        std::min(tokens.size(), static_cast<std::size_t>(block_)));
    const std::vector<double> values(tokens.end() - seen, tokens.end());
    const Tensor input = from_values(values, {1, seen}, i64);
    const Tensor scores = model_(input);  // (1, seen, vocabulary)
    return select(select(scores, 0, 0), 0, seen - 1).to_vector();
  }
  void print(std::span<const std::int64_t> tokens) const {
    const memory::String text = vocabulary_.decode(tokens);
    static_cast<void>(std::fwrite(text.data(), 1, text.size(), stdout));
    static_cast<void>(std::fflush(stdout));
  }

  nn::Layer& model_;
  const data::Vocabulary& vocabulary_;
  std::int64_t block_;
  const SampleSettings& settings_;
};

}  // namespace

ExitCode sample(const SampleSettings& settings) {
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
  Generator generator(settings.seed);
  const UseGenerator use(generator);
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
  Writer(*model, vocabulary, saved->settings.block, settings)
      .run({prompt->begin(), prompt->end()});
  return ExitCode::kOk;
}

}  // namespace neap::app
