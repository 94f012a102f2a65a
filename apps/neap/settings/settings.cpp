// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "byte_size.hpp"
#include "neap/base/shown.hpp"
#include "neap/data/loader.hpp"
#include "nearest.hpp"
#include "numbers.hpp"

namespace neap::app {
namespace {

using Setter = std::function<std::string(TrainSettings&, const std::string&)>;

Setter whole(std::int64_t TrainSettings::*field, std::int64_t least,
             std::int64_t most = std::numeric_limits<std::int32_t>::max()) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    std::int64_t value = 0;
    if (!parse_number(text, value) || value < least || value > most) {
      return fmt::format("a whole number from {} to {}", least, most);
    }
    s.*field = value;
    return {};
  };
}

Setter real(double TrainSettings::*field, double least, double below) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    double value = 0.0;
    if (!parse_number(text, value) || !(value >= least && value < below)) {
      return std::isfinite(below)
                 ? fmt::format("a number from {} up to, not including, {}",
                               least, below)
                 : fmt::format("a finite number of at least {}", least);
    }
    s.*field = value;
    return {};
  };
}

Setter one_of(std::string TrainSettings::*field,
              const std::vector<std::string>& choices) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
      return fmt::format("one of {}{}", fmt::join(choices, ", "),
                         did_you_mean(text, choices));
    }
    s.*field = text;
    return {};
  };
}

Setter flag(bool TrainSettings::*field) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    if (text != "true" && text != "false") {
      return "true or false";
    }
    s.*field = text == "true";
    return {};
  };
}

Setter on_or_off(bool TrainSettings::*field) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    if (text != "on" && text != "off") {
      return "on or off";
    }
    s.*field = text == "on";
    return {};
  };
}

Setter any_text(std::string TrainSettings::*field) {
  return [=](TrainSettings& s, const std::string& text) -> std::string {
    if (text.empty()) {
      return "a text that is not empty";
    }
    s.*field = text;
    return {};
  };
}

std::string set_seed(TrainSettings& s, const std::string& text) {
  return parse_number(text, s.seed) ? "" : "a whole number from 0 to 2^64 - 1";
}

std::string set_hidden(TrainSettings& s, const std::string& text) {
  constexpr std::int64_t kMost = 1 << 20;
  std::vector<std::int64_t> sizes;
  for (std::size_t at = 0; at <= text.size() && !text.empty();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    std::int64_t size = 0;
    if (!parse_number(std::string_view(text).substr(at, comma - at), size) ||
        size < 1 || size > kMost) {
      return fmt::format("sizes from 1 to {}, like 512,256", kMost);
    }
    sizes.push_back(size);
    at = comma + 1;
  }
  s.hidden = std::move(sizes);
  return {};
}

std::string set_budget(TrainSettings& s, const std::string& text) {
  constexpr Bytes kLeastWithoutUnit = kMiB;  // no process is as small
  Bytes bare = 0;
  if (parse_number(text, bare) && bare > 0 && bare < kLeastWithoutUnit) {
    return fmt::format("a size with a unit: {0}MiB, or {0}B for bytes", bare);
  }
  const auto bytes = parse_bytes(text);
  if (!bytes) {
    return "a size, like 64MiB, 1.5GiB, 512K or 67108864";
  }
  s.budget = *bytes;
  return {};
}

std::string set_save_every(TrainSettings& s, const std::string& text) {
  struct Unit {
    std::string_view name;
    double seconds;
  };
  static constexpr Unit kUnits[] = {{"min", 60.0}, {"h", 3600.0}, {"s", 1.0}};
  std::string_view number(text);
  double seconds = 0.0;
  for (const Unit& unit : kUnits) {
    if (seconds == 0.0 && number.ends_with(unit.name)) {
      number.remove_suffix(unit.name.size());
      seconds = unit.seconds;
    }
  }
  std::int64_t count = 0;
  if (!parse_number(number, count) || count < 1 ||
      count > std::numeric_limits<std::int32_t>::max()) {
    return "steps, like 500, or a time, like 90s, 10min or 1h";
  }
  s.save_steps = seconds == 0.0 ? count : 0;
  s.save_seconds = seconds * static_cast<double>(count);
  return {};
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <class T>
std::string shown(const T& value) {
  return fmt::format("{}", value);
}

// How a run is done, whatever is trained.
std::vector<Setting> make_run_settings() {
  using S = TrainSettings;
  const S d;  // the defaults
  return {
      {"budget", "BYTES",
       "never hold more than this, code and stacks included; like 64MiB",
       "none", set_budget},
      {"compile", "",
       "lay the whole step out in one arena before the first one", "no",
       flag(&S::compile), "eager", "run each op by itself, at once"},
      {"paged", "", "with the step's arena in pages where that makes it lower",
       "no", flag(&S::paged)},
      {"verbose", "", "say when a compiled step is traced again, and why", "no",
       flag(&S::verbose)},
      {"save", "FILE", "write a checkpoint there, at the end and on Ctrl-C",
       "none", any_text(&S::save)},
      {"save-every", "N|TIME",
       "and before: after so many steps, or a time like 90s, 10min or 1h",
       "at the end alone", set_save_every},
      {"resume", "FILE", "go on from a checkpoint of the same run", "none",
       any_text(&S::resume)},
      {"verify", "on|off",
       "compare the checksums of a file that is loaded or resumed from", "on",
       on_or_off(&S::verify)},
      {"json", "FILE", "write a summary there; - for standard output", "none",
       any_text(&S::json)},
      {"metrics", "FILE", "append a line of JSON there for every step", "none",
       any_text(&S::metrics)},
      {"tensorboard", "DIR", "write an event file for TensorBoard there",
       "none", any_text(&S::tensorboard)},
      {"progress", "HOW", "auto, bar, plain or none", d.progress,
       one_of(&S::progress, {"auto", "bar", "plain", "none"})},
  };
}

constexpr std::string_view kModels[] = {"mlp",      "lenet",    "vgg11",
                                        "resnet18", "resnet34", "unet",
                                        "gpt",      "lstm",     "gru"};

// What is trained, and on what.
std::vector<Setting> make_task_settings() {
  using S = TrainSettings;
  const S d;  // the defaults
  return {
      {"model", "NAME", fmt::format("network: {}", fmt::join(kModels, ", ")),
       d.model,
       one_of(&S::model, std::vector<std::string>(std::begin(kModels),
                                                  std::end(kModels)))},
      {"data", "NAME|DIR",
       "fashion-mnist, cifar10, cifar100, text, csv, or a folder with the four "
       "IDX files of MNIST's naming, plain or gzipped",
       d.data, any_text(&S::data)},
      {"path", "PATH",
       "the file of the text or table; the folder of cifar's binary files",
       "none", any_text(&S::path)},
      {"symbols", "NAME", "pieces of a text: characters or bytes", d.symbols,
       one_of(&S::symbols, {"characters", "bytes"})},
      {"validation", "X", "share of a text or table kept for the test",
       shown(d.validation), real(&S::validation, 0.0, 1.0)},
      {"target", "NAME", "the table's column of labels (0, 1, ...)", "the last",
       any_text(&S::target)},
      {"augment", "", "train on images cut out at random and mirrored", "no",
       flag(&S::augment)},
      {"width", "N", "channels at the front of vgg11, resnet and unet",
       shown(d.width), whole(&S::width, 1, 1 << 16)},
      {"layers", "N", "of language models", shown(d.layers),
       whole(&S::layers, 1, 100'000)},
      {"dim", "N", "width of language models", shown(d.dim), whole(&S::dim, 1)},
      {"heads", "N", "of gpt; they divide dim", shown(d.heads),
       whole(&S::heads, 1)},
      {"keep", "WHAT",
       "what gpt keeps for its backward: everything, products, or nothing but "
       "what goes into each layer",
       d.keep, one_of(&S::keep, {"everything", "products", "nothing"})},
      {"block", "N", "tokens in a sample of text", shown(d.block),
       whole(&S::block, 1)},
      {"hidden", "N,N,...", "widths of the mlp's hidden layers",
       fmt::format("{}", fmt::join(d.hidden, ",")), set_hidden},
      {"dropout", "P", "probability of dropping a hidden unit",
       shown(d.dropout), real(&S::dropout, 0.0, 1.0)},
  };
}

// How it is trained.
std::vector<Setting> make_step_settings() {
  using S = TrainSettings;
  const S d;
  return {
      {"epochs", "N", "passes over the training data", shown(d.epochs),
       whole(&S::epochs, 1)},
      {"steps", "N", "training steps, instead of epochs", "none: by epochs",
       whole(&S::steps, 1)},
      {"minutes", "X", "end after this time, if the steps take longer",
       "no limit", real(&S::minutes, 0.0, kInfinity)},
      {"batch", "N", "samples in a step", shown(d.batch), whole(&S::batch, 1)},
      {"prefetch", "N", "batches that a reader thread fills ahead",
       shown(d.prefetch), whole(&S::prefetch, 0, data::Loader::kMaxPrefetch)},
      {"seed", "N", "of initial weights, order of samples and dropout",
       shown(d.seed), set_seed},
      {"threads", "N", "threads that compute; 0: every processor there is",
       shown(d.threads), whole(&S::threads, 0, 256)},
      {"kernels", "NAME|FILE",
       "neap, or a plug-in to put in front: onednn, or its file", d.kernels,
       any_text(&S::kernels)},
      {"dtype", "NAME",
       "products of f32 or of numbers rounded to bf16; parameters, sums and "
       "all "
       "else are f32",
       d.dtype, one_of(&S::dtype, {"f32", "bf16"})},
      {"optimizer", "NAME", "sgd, adam or adamw", d.optimizer,
       one_of(&S::optimizer, {"sgd", "adam", "adamw"})},
      {"lr", "X", "learning rate", shown(d.learning_rate),
       real(&S::learning_rate, 0.0, kInfinity)},
      {"momentum", "X", "of sgd", shown(d.momentum),
       real(&S::momentum, 0.0, 1.0)},
      {"weight-decay", "X", "L2 (sgd, adam) or decoupled (adamw)",
       shown(d.weight_decay), real(&S::weight_decay, 0.0, kInfinity)},
      {"schedule", "NAME", "of the learning rate: cosine (to 0) or constant",
       d.schedule, one_of(&S::schedule, {"cosine", "constant"})},
      {"warmup", "N", "steps of linear warm-up", shown(d.warmup),
       whole(&S::warmup, 0)},
      {"clip", "X", "largest norm of the gradient; 0: no clipping",
       shown(d.clip_norm), real(&S::clip_norm, 0.0, kInfinity)},
  };
}

std::vector<Setting> make_settings() {
  std::vector<Setting> settings = make_task_settings();
  for (Setting& setting : make_step_settings()) {
    settings.push_back(std::move(setting));
  }
  for (Setting& setting : make_run_settings()) {
    settings.push_back(std::move(setting));
  }
  return settings;
}

// Those of train's settings that another command has too.
void add_kept(std::vector<Setting>& settings,
              std::initializer_list<std::string_view> keys) {
  for (const Setting& setting : train_settings()) {
    if (std::find(keys.begin(), keys.end(), setting.key) != keys.end()) {
      settings.push_back(setting);
    }
  }
}

std::vector<Setting> make_eval_settings() {
  std::vector<Setting> settings = {{"load", "FILE",
                                    "a model that was saved, or a checkpoint",
                                    "none", any_text(&TrainSettings::load)}};
  add_kept(settings, {"model",  "data",    "path",    "symbols", "validation",
                      "width",  "layers",  "dim",     "heads",   "block",
                      "hidden", "batch",   "threads", "kernels", "dtype",
                      "budget", "compile", "json",    "target",  "verify"});
  return settings;
}

std::vector<Setting> make_plan_settings() {
  using S = TrainSettings;
  const S d;
  std::vector<Setting> settings = {
      {"vocab", "N", "tokens of language models, where there is no text",
       shown(d.vocab), whole(&S::vocab, 1)},
  };
  add_kept(settings,
           {"model",       "data",         "path",    "symbols", "validation",
            "augment",     "width",        "layers",  "dim",     "heads",
            "block",       "hidden",       "dropout", "batch",   "threads",
            "optimizer",   "momentum",     "clip",    "budget",  "lr",
            "seed",        "weight-decay", "kernels", "paged",   "metrics",
            "tensorboard", "dtype"});
  add_kept(settings, {"keep", "prefetch", "save", "resume", "verify",
                      "schedule", "target"});
  return settings;
}

}  // namespace

bool is_language_model(const std::string& model) {
  return model == "gpt" || model == "lstm" || model == "gru";
}

bool has_task(const TrainSettings& settings) {
  return !is_language_model(settings.model) || settings.data == "text";
}

std::span<const Setting> train_settings() {
  static const std::vector<Setting> settings = make_settings();
  return settings;
}

std::span<const Setting> plan_settings() {
  static const std::vector<Setting> settings = make_plan_settings();
  return settings;
}

std::span<const Setting> eval_settings() {
  static const std::vector<Setting> settings = make_eval_settings();
  return settings;
}

Result<void> apply(std::span<const Setting> table, const Texts& texts,
                   const std::string& where, TrainSettings& settings) {
  for (const Setting& setting : table) {
    const auto given = texts.find(setting.key);
    if (given == texts.end()) {
      continue;
    }
    const std::string expected = setting.set(settings, given->second);
    if (!expected.empty()) {
      return failure(FailureKind::kCorrupt,
                     fmt::format("{}{}: '{}' is not {}", where, setting.key,
                                 base::shown(given->second), expected));
    }
  }
  return {};
}

// Data that one of the models works on alone.
Result<void> check_table(const TrainSettings& s) {
  if (s.data == "csv" && s.model != "mlp") {
    return failure(FailureKind::kMismatch,
                   fmt::format("--data csv: --model mlp works on tables, {} "
                               "does not",
                               s.model));
  }
  if (s.data == "csv" && s.path.empty()) {
    return failure(FailureKind::kMismatch,
                   "--data csv: --path must say which file");
  }
  return {};
}

Result<void> check_task(const TrainSettings& s) {
  if (auto good = check_table(s); !good) {
    return good;
  }
  const bool is_text = s.data == "text";
  if (is_text != is_language_model(s.model)) {
    return failure(FailureKind::kMismatch,
                   fmt::format("--model {}: works on {}, not on --data {}{}",
                               s.model, is_text ? "images" : "text", s.data,
                               is_text ? "" : "; say --data text --path FILE"));
  }
  if (is_text && s.path.empty()) {
    return failure(FailureKind::kMismatch,
                   "--data text: --path must say which file");
  }
  if ((s.data == "cifar10" || s.data == "cifar100") && s.path.empty()) {
    return failure(FailureKind::kMismatch,
                   fmt::format("--data {}: --path must say which folder has "
                               "its binary files",
                               s.data));
  }
  return {};
}

Result<void> check(const TrainSettings& settings, std::int64_t steps) {
  if (settings.paged && !settings.compile) {
    return failure(FailureKind::kMismatch,
                   "--paged: only a step that runs as a plan (--compile) has "
                   "an arena");
  }
  if (settings.warmup > 0 && steps > 0 && settings.warmup >= steps) {
    return failure(FailureKind::kMismatch,
                   fmt::format("--warmup: {} steps of warm-up leave none of {}",
                               settings.warmup, steps));
  }
  if (settings.save.empty() &&
      (settings.save_steps > 0 || settings.save_seconds > 0.0)) {
    return failure(FailureKind::kMismatch,
                   "--save-every: there is no --save that says where");
  }
  return {};
}

}  // namespace neap::app
