// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "run_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/engine/plugin.hpp"
#include "neap/memory/domain.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/threads/pool.hpp"

namespace neap::app {

Result<void> set_up(const TrainSettings& s) {
  threads::set_default_threads(static_cast<int>(s.threads));
  memory::default_domain().set_budget(s.budget);
  if (s.kernels == "neap") {
    return {};
  }
  auto loaded = kernels::load_plugin(s.kernels);
  return loaded ? Result<void>() : tl::unexpected(loaded.error());
}

double weight_decay_of(const TrainSettings& s) {
  const double own = s.optimizer == "sgd" ? optim::SGDOptions{}.weight_decay
                     : s.optimizer == "adamw"
                         ? optim::AdamWOptions{}.weight_decay
                         : optim::AdamOptions{}.weight_decay;
  return s.weight_decay.value_or(own);
}

std::unique_ptr<optim::Optimizer> make_optimizer(
    const TrainSettings& s, const ParameterList& parameters) {
  const double decay = weight_decay_of(s);
  if (s.optimizer == "sgd") {
    return std::make_unique<optim::SGD>(
        parameters, optim::SGDOptions{.lr = s.learning_rate,
                                      .momentum = s.momentum,
                                      .weight_decay = decay});
  }
  const optim::AdamOptions options{.lr = s.learning_rate,
                                   .weight_decay = decay};
  if (s.optimizer == "adamw") {
    return std::make_unique<optim::AdamW>(parameters, options);
  }
  return std::make_unique<optim::Adam>(parameters, options);
}

CompileOptions compile_options(const TrainSettings& settings) {
  CompileOptions options;
  options.paged = settings.paged;
  options.arena_limit = settings.arena_limit;
  options.budget = settings.step_budget;
  options.spill = {.folder = settings.spill,
                   .write_rate = settings.spill_write_rate,
                   .fetch_rate = settings.spill_fetch_rate,
                   .most_written_a_day = settings.spill_a_day};
  return options;
}

std::unique_ptr<BornAway> born_away(const TrainSettings& settings) {
  return settings.born_away
             ? std::make_unique<BornAway>(compile_options(settings).spill)
             : nullptr;
}

CompileOptions step_options(const TrainSettings& settings) {
  CompileOptions options = compile_options(settings);
  options.plan.file = settings.plan_file;
  options.plan.run_budget = settings.plan_budget;
  return options;
}

std::string data_directory(const TrainSettings& s) {
  return s.data == "fashion-mnist" ? std::string(data::kFashionMnistDirectory)
                                   : s.data;
}

std::vector<std::int64_t> mlp_widths(const TrainSettings& s,
                                     std::int64_t pixels,
                                     std::int64_t classes) {
  std::vector<std::int64_t> widths = {pixels};
  widths.insert(widths.end(), s.hidden.begin(), s.hidden.end());
  widths.push_back(classes);
  return widths;
}

std::optional<train::MetricsOptions> metrics_of(const TrainSettings& s) {
  if (s.metrics.empty() && s.tensorboard.empty()) {
    return std::nullopt;
  }
  return train::MetricsOptions{.jsonl = s.metrics,
                               .tensorboard = s.tensorboard};
}

Result<Precision> precision_of(const TrainSettings& s) {
  if (s.dtype == "f32") {
    return Precision::kF32;
  }
  const char* level = kernels::isa();  // as NEAP_ISA says, before the look
  if (!kernels::has_bf16_dot()) {
    return failure(
        FailureKind::kUnsupported,
        fmt::format("--dtype bf16: this processor has no dot products of bf16 "
                    "(AVX512_BF16) at the instruction set '{}'; leave --dtype "
                    "out to compute in f32",
                    level));
  }
  return Precision::kBf16;
}

train::Facts facts_of(const TrainSettings& s, std::int64_t steps,
                      const data::Vocabulary* vocabulary) {
  train::Facts facts;
  const auto add = [&](const char* key, const auto& value) {
    facts.push_back({key, memory::String(fmt::format("{}", value))});
  };
  add("model", s.model);
  if (s.model == "mlp") {
    add("hidden", fmt::format("{}", fmt::join(s.hidden, ",")));
  } else if (is_language_model(s.model)) {
    add("layers", s.layers);
    add("dim", s.dim);
    add("block", s.block);
    if (s.model == "gpt") {
      add("heads", s.heads);
    }
  } else if (s.model != "lenet") {
    add("width", s.width);
  }
  if (vocabulary != nullptr) {
    add("symbols", s.symbols);
    add("characters", std::string_view(vocabulary->characters()));
  }
  if (s.augment) {
    add("augment", "true");
  }
  if (s.dtype != "f32") {
    add("dtype", s.dtype);
  }
  add("dropout", s.dropout);
  add("batch", s.batch);
  add("seed", s.seed);
  add("optimizer", s.optimizer);
  add("lr", s.learning_rate);
  add("schedule", s.schedule);
  add("warmup", s.warmup);
  add("clip", s.clip_norm);
  add("weight-decay", weight_decay_of(s));
  if (s.optimizer == "sgd") {
    add("momentum", s.momentum);
  }
  if (s.schedule == "cosine") {
    add("steps", steps);  // the rate depends on the end
  }
  add("note.data", s.data);
  if (!s.path.empty()) {
    add("note.path", s.path);
  }
  add("note.validation", s.validation);
  if (!s.target.empty()) {
    add("note.target", s.target);
  }
  return facts;
}

}  // namespace neap::app
