// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "run_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/engine/plugin.hpp"
#include "neap/memory/domain.hpp"
#include "neap/optim/adafactor.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/lion.hpp"
#include "neap/optim/muon.hpp"
#include "neap/optim/rmsprop.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/threads/pool.hpp"
#include "pretrained_task.hpp"

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
  const double own = s.optimizer == "adamw" ? optim::AdamWOptions{}.weight_decay
                     : s.optimizer == "muon" ? optim::MuonOptions{}.weight_decay
                                             : 0.0;
  return s.weight_decay.value_or(own);
}

namespace {

bool is_embedding_or_head(std::string_view name) {
  constexpr std::array kParts{"wte", "wpe", "embed", "lm_head", "classifier"};
  return name.starts_with("fc.") ||
         std::ranges::any_of(kParts, [name](std::string_view part) {
           return name.find(part) != std::string_view::npos;
         });
}

// Muon for the weights of hidden layers, AdamW for vectors, embeddings and the
// last layer; one rate serves both, since their steps are as large.
std::unique_ptr<optim::Optimizer> make_muon(const TrainSettings& s,
                                            const ParameterList& parameters,
                                            double decay) {
  const Parameter* last = nullptr;  // matrix, which of other models is the head
  for (const Parameter& parameter : parameters) {
    last = parameter.tensor.rank() >= 2 ? &parameter : last;
  }
  const bool has_names = is_language_model(s.model);
  ParameterList hidden;
  ParameterList others;
  for (const Parameter& parameter : parameters) {
    const bool is_edge =
        has_names ? is_embedding_or_head(parameter.name) : &parameter == last;
    const bool is_hidden = parameter.tensor.rank() >= 2 && !is_edge;
    (is_hidden ? hidden : others).push_back(parameter);
  }
  const optim::MuonOptions by_muon{.lr = s.learning_rate,
                                   .weight_decay = decay,
                                   .rate = optim::MuonRate::kAdamW};
  const optim::MuonOptions by_adam{
      .lr = s.learning_rate, .weight_decay = decay, .by_adam = true};
  if (hidden.empty()) {
    return std::make_unique<optim::Muon>(others, by_adam);
  }
  auto muon = std::make_unique<optim::Muon>(hidden, by_muon);
  if (!others.empty()) {
    muon->add_group(others, by_adam);
  }
  return muon;
}

}  // namespace

std::unique_ptr<optim::Optimizer> make_optimizer(const TrainSettings& s,
                                                 ParameterList parameters) {
  // The model of an adapter is frozen.
  std::erase_if(parameters, [](const Parameter& parameter) {
    return !parameter.tensor.requires_grad();
  });
  const double decay = weight_decay_of(s);
  if (s.optimizer == "sgd") {
    return std::make_unique<optim::SGD>(
        parameters, optim::SGDOptions{.lr = s.learning_rate,
                                      .momentum = s.momentum,
                                      .weight_decay = decay});
  }
  if (s.optimizer == "lion") {
    return std::make_unique<optim::Lion>(
        parameters,
        optim::LionOptions{.lr = s.learning_rate, .weight_decay = decay});
  }
  if (s.optimizer == "rmsprop") {
    return std::make_unique<optim::RMSprop>(
        parameters,
        optim::RMSpropOptions{.lr = s.learning_rate, .weight_decay = decay});
  }
  if (s.optimizer == "adafactor") {
    return std::make_unique<optim::Adafactor>(
        parameters,
        optim::AdafactorOptions{.lr = s.learning_rate, .weight_decay = decay});
  }
  if (s.optimizer == "muon") {
    return make_muon(s, parameters, decay);
  }
  const optim::AdamOptions options{.lr = s.learning_rate,
                                   .weight_decay = decay};
  if (s.optimizer == "adamw") {
    return std::make_unique<optim::AdamW>(parameters, options);
  }
  return std::make_unique<optim::Adam>(parameters, options);
}

std::unique_ptr<optim::Ema> make_average(const TrainSettings& s,
                                         const nn::Module& model) {
  if (!s.ema) {
    return nullptr;
  }
  ParameterList averaged = model.parameters();
  std::erase_if(averaged, [](const Parameter& parameter) {
    return !parameter.tensor.requires_grad();
  });
  for (Parameter& buffer : model.buffers()) {
    if (buffer.tensor.dtype() == f32 || buffer.tensor.dtype() == f64) {
      averaged.push_back(std::move(buffer));
    }
  }
  return std::make_unique<optim::Ema>(
      averaged, optim::EmaOptions{.decay = *s.ema, .warm_up = true});
}

std::unique_ptr<optim::ReduceOnPlateau> make_plateau(
    const TrainSettings& s, optim::Optimizer& optimizer) {
  return s.schedule == "plateau"
             ? std::make_unique<optim::ReduceOnPlateau>(
                   optimizer,
                   optim::PlateauOptions{.factor = s.plateau_factor,
                                         .patience = s.plateau_patience})
             : nullptr;
}

optim::Schedule make_schedule(const TrainSettings& s, std::int64_t steps) {
  const double lr = s.learning_rate;
  if (s.schedule == "cosine") {
    return optim::cosine(lr, steps, s.warmup);
  }
  if (s.schedule == "linear") {
    return optim::linear(lr, steps, s.warmup);
  }
  if (s.schedule == "wsd") {
    return optim::warmup_stable_decay(lr, steps, s.warmup, steps / 10);
  }
  if (s.schedule == "one-cycle") {
    return optim::one_cycle(lr, steps);
  }
  if (s.schedule == "plateau") {
    return {};
  }
  return optim::warm_up(lr, s.warmup);
}

CompileOptions compile_options(const TrainSettings& settings) {
  CompileOptions options;
  options.paged = settings.paged;
  options.shards = static_cast<int>(settings.shards);
  options.arena_limit = settings.arena_limit;
  options.budget = settings.step_budget;
  options.spill = {.folder = settings.spill,
                   .write_rate = settings.spill_write_rate,
                   .fetch_rate = settings.spill_fetch_rate,
                   .most_written_a_day = settings.spill_a_day};
  if (settings.book) {
    options.costs = *settings.book;
  }
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
  options.ranks = settings.step_ranks;
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

namespace {

// Notes of the data, for `eval`.
void add_notes(const TrainSettings& s, train::Facts& facts) {
  const auto add = [&](const char* key, const auto& value) {
    facts.push_back({key, memory::String(fmt::format("{}", value))});
  };
  add("note.data", s.data);
  if (!s.path.empty()) {
    add("note.path", s.path);
  }
  add("note.validation", s.validation);
  if (!s.target.empty()) {
    add("note.target", s.target);
  }
}

void add_schedule(const TrainSettings& s, std::int64_t steps,
                  train::Facts& facts) {
  const auto add = [&](const char* key, const auto& value) {
    facts.push_back({key, memory::String(fmt::format("{}", value))});
  };
  add("schedule", s.schedule);
  add("warmup", s.warmup);
  if (s.schedule == "plateau") {
    add("plateau-patience", s.plateau_patience);
    add("plateau-factor", s.plateau_factor);
    add("eval-every", s.eval_steps);
  } else if (s.schedule != "constant") {
    add("steps", steps);  // the rate depends on the end
  }
}

// The model of a folder.
void add_folder(const TrainSettings& s, train::Facts& facts) {
  const auto add = [&](const char* key, const auto& value) {
    facts.push_back({key, memory::String(fmt::format("{}", value))});
  };
  add("config", config_digest(s));
  if (s.data == "images") {
    add("no-augment", s.no_augment);
  } else {
    add("block", s.block);
  }
  add("adapter", s.adapter.empty() ? "none" : s.adapter);
  if (s.weights != "f32") {  // files of before this was one have it not
    add("weights", s.weights);
  }
  add("note.from", s.from);
}

}  // namespace

train::Facts facts_of(const TrainSettings& s, std::int64_t steps,
                      const data::Vocabulary* vocabulary,
                      std::string_view classes) {
  train::Facts facts;
  const auto add = [&](const char* key, const auto& value) {
    facts.push_back({key, memory::String(fmt::format("{}", value))});
  };
  add("model", s.model);
  if (s.model == "mlp") {
    add("hidden", fmt::format("{}", fmt::join(s.hidden, ",")));
  } else if (!s.from.empty()) {
    add_folder(s, facts);
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
  if (!classes.empty()) {
    add("classes", classes);
  }
  if (s.augment) {
    add("augment", "true");
  }
  if (s.dtype != "f32") {
    add("dtype", s.dtype);
  }
  add("dropout", s.dropout);
  add("batch", s.batch);
  if (s.shards != 1) {
    add("shards", s.shards);
  }
  add("seed", s.seed);
  add("optimizer", s.optimizer);
  add("lr", s.learning_rate);
  add_schedule(s, steps, facts);
  add("clip", s.clip_norm);
  add("weight-decay", weight_decay_of(s));
  if (s.optimizer == "sgd") {
    add("momentum", s.momentum);
  }
  if (s.ema) {
    add("ema", *s.ema);
  }
  add_notes(s, facts);
  return facts;
}

void add_test_data(const TrainSettings& s, const data::Loader& loader,
                   train::Facts& facts) {
  const auto held = loader.fingerprint();
  if (s.schedule == "plateau" && held) {
    facts.push_back(
        {"test-data", memory::String(fmt::format("{:016x}", *held))});
  }
}

}  // namespace neap::app
