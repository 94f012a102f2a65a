// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// One more token of each text, by a decoder with its cache, beside the time in
// which the machine reads the weights and the cache from memory once: no
// program that reads them is faster. Weights are random, the texts of one
// length; the scores' work does not depend on either. Each model is there in
// f32 and with its matrices in bf16, whose read is the shorter one.
#include <fmt/format.h>

#include "neap/neap.hpp"
#include "support/limits.hpp"
#include "support/measure.hpp"
#include "support/report.hpp"

namespace neap::bench {
namespace {

struct Case {
  std::string name;
  models::PretrainedConfig config;
};

// The same with matrices in bf16, to be filled as those that are drawn.
Case halved(const Case& which) {
  Case half{which.name + ", bf16", which.config};
  std::visit(
      [](auto& o) {
        if constexpr (requires { o.has_half_weights; }) {
          o.is_drawn = false;
          o.has_half_weights = true;
        }
      },
      half.config);
  return half;
}

memory::Owned<nn::Layer> model_of(const Case& which, bool is_half) {
  auto model = models::make_model(which.config);
  if (is_half) {  // the numbers that a drawn one has, near enough
    for (const nn::Parameter& parameter : model->parameters()) {
      if (parameter.name.ends_with("bias")) {
        nn::constant_(parameter.tensor, 0.0);
      } else if (parameter.tensor.rank() == 1) {
        nn::constant_(parameter.tensor, 1.0);
      } else {
        nn::normal_(parameter.tensor, 0.0, 0.02);
      }
    }
  }
  model->eval();
  return model;
}

models::PretrainedConfig gpt2_small() {
  return models::GptOptions{};
}

// SmolLM-135M's sizes.
models::PretrainedConfig smollm() {
  return models::LlamaOptions{.vocab = 49152,
                              .layers = 30,
                              .heads = 9,
                              .kv_heads = 3,
                              .dim = 576,
                              .hidden = 1536,
                              .tie = true};
}

std::vector<Case> cases(bool is_quick) {
  if (is_quick) {
    return {
        {"gpt of 2 layers of 64",
         models::GptOptions{
             .vocab = 64, .block = 64, .layers = 2, .heads = 2, .dim = 64}}};
  }
  return {{"GPT-2 small", gpt2_small()}, {"Llama form of 135 M", smollm()}};
}

// A text of `kPrompt` tokens that grows, and begins again where it is full.
class Text {
 public:
  Text(const nn::Layer& model, std::int64_t samples, std::int64_t length)
      : decoder_(model, {.samples = samples, .length = length}),
        prompts_(static_cast<std::size_t>(samples),
                 std::vector<std::int64_t>(kPrompt, 1)),
        tokens_(static_cast<std::size_t>(samples), 2) {
    decoder_.prepare(kPrompt, length);
    decoder_.start(prompts_);
  }

  // Seconds of each of the next tokens.
  std::vector<double> grow(int count) {
    std::vector<double> seconds;
    for (int i = 0; i < count; ++i) {
      if (decoder_.length(0) == decoder_.capacity()) {
        decoder_.start(prompts_);
      }
      const double begin = now();
      keep(decoder_.next(tokens_));
      seconds.push_back(now() - begin);
    }
    return seconds;
  }
  Bytes cache_bytes() const { return decoder_.cache().bytes(); }

 private:
  static constexpr std::int64_t kPrompt = 16;

  models::Decoder decoder_;
  std::vector<std::vector<std::int64_t>> prompts_;
  std::vector<std::int64_t> tokens_;
};

Row row_of(const Case& which, std::int64_t samples, int threads, bool is_quick,
           bool is_half) {
  const auto model = model_of(which, is_half);
  const NoGrad no_grad;
  Text text(*model, samples, is_quick ? 32 : 256);
  const Bytes bytes = model->parameter_bytes() + text.cache_bytes();
  Streams reads(1, 0, bytes);
  std::vector<Contender> contenders = reads.contenders(threads::default_pool());
  const std::size_t first = contenders.size();
  contenders.push_back(
      {"neap", [&text](int count) { return text.grow(count); }});
  const std::vector<Timing> timings = measure(
      contenders,
      {.rounds = is_quick ? 1 : 7, .turn_seconds = is_quick ? 0.001 : 0.5});
  const Timing& limit = fastest(std::span(timings).first(first));
  const Timing& ours = timings[first];
  return {.name = fmt::format("{}, {} text{}", which.name, samples,
                              samples > 1 ? "s" : ""),
          .threads = threads,
          .unit = "ms",
          .ours = 1e3 * ours.median,
          .peer = 1e3 * limit.median,
          .peer_name = "a read of all",
          .reps = ours.reps,
          .figures = {
              {"read, MiB", static_cast<double>(bytes) / kMiB},
              {"tokens a second", static_cast<double>(samples) / ours.median}}};
}

std::vector<Row> rows_of(const Arguments& arguments, int threads) {
  std::vector<Row> rows;
  for (const Case& which : cases(arguments.quick)) {
    if (!arguments.selects(which.name)) {
      continue;
    }
    for (const std::int64_t samples : {1, 4, 8}) {
      for (const bool is_half : {false, true}) {
        rows.push_back(row_of(is_half ? halved(which) : which, samples, threads,
                              arguments.quick, is_half));
      }
    }
  }
  return rows;
}

void run(const Arguments& arguments) {
  Report report("decode", arguments);
  for (const int threads : arguments.threads) {
    threads::set_default_threads(threads);
    report.table("one more token of each text, ms",
                 rows_of(arguments, threads));
  }
}

}  // namespace
}  // namespace neap::bench

int main(int argc, char** argv) {
  neap::bench::run(neap::bench::read_arguments(
      argc, argv, "Texts that grow by a token, beside memory's speed."));
}
