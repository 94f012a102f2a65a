// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The tables of settings, group by group, as the help shows them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "neap/data/loader.hpp"
#include "setters.hpp"

namespace neap::app {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

const std::vector<std::string> kModels = {"mlp",      "lenet",    "vgg11",
                                          "resnet18", "resnet34", "unet",
                                          "gpt",      "lstm",     "gru"};

template <class T>
std::string shown(const T& value) {
  return fmt::format("{}", value);
}

Setting with_choices(Setting setting, std::vector<std::string> choices) {
  setting.choices = std::move(choices);
  return setting;
}

// A setting of one of few values.
Setting chosen(const char* key, const char* metavar, std::string help,
               std::string shown, std::string TrainSettings::*field,
               const std::vector<std::string>& choices) {
  return with_choices(
      {key, metavar, std::move(help), std::move(shown), one_of(field, choices)},
      choices);
}

Setting from_setting() {
  return {"from", "DIR",
          "instead of --model, the model of a folder of Hugging Face's: "
          "config.json, its safetensors, and tokenizer.json for text",
          "none", set_from};
}

Setting adapter_setting() {
  return {"adapter", "lora:RANK|DIR",
          "train this alone, with the model of --from as it is: a new low-rank "
          "adapter of a rank (lora:8, or with its alpha lora:8:16), or one of "
          "the peft package from a folder",
          "none", set_adapter};
}

Setting weights_setting() {
  const TrainSettings d;  // the defaults
  return chosen("weights", "WIDTH",
                "of --from, with --adapter: f32, or file: matrices that are in "
                "BF16 there "
                "stay so, to the same bits in about half of their memory",
                d.weights, &TrainSettings::weights, {"f32", "file"});
}

// The network.
std::vector<Setting> model_settings() {
  using S = TrainSettings;
  const S d;  // the defaults
  return {
      with_choices({"model", "NAME",
                    fmt::format("network: {}", fmt::join(kModels, ", ")),
                    d.model, set_model(kModels)},
                   kModels),
      from_setting(),
      adapter_setting(),
      weights_setting(),
      {"hidden", "N,N,...", "widths of the mlp's hidden layers",
       fmt::format("{}", fmt::join(d.hidden, ",")), set_hidden},
      {"width", "N", "channels at the front of vgg11, resnet and unet",
       shown(d.width), whole(&S::width, 1, 1 << 16)},
      {"layers", "N", "of language models", shown(d.layers),
       whole(&S::layers, 1, 100'000)},
      {"dim", "N", "width of language models", shown(d.dim), whole(&S::dim, 1)},
      {"heads", "N", "of gpt; they divide dim", shown(d.heads),
       whole(&S::heads, 1)},
      {"block", "N", "tokens in a sample of text, or a line at most",
       shown(d.block), whole(&S::block, 1)},
      {"dropout", "P", "probability of dropping a hidden unit",
       shown(d.dropout), real(&S::dropout, 0.0, 1.0)},
      chosen("keep", "WHAT",
             "what gpt keeps for backward: all (or everything), products, or "
             "none (or nothing) but the input of each layer",
             d.keep, &S::keep,
             {"all", "products", "none", "everything", "nothing"}),
  };
}

// Settings of the data that a model is trained on.
std::vector<Setting> data_settings() {
  using S = TrainSettings;
  const S d;  // the defaults
  return {
      {"data", "NAME|DIR",
       "fashion-mnist, cifar10, cifar100, text, csv, for pretrained models "
       "images (in a sub-folder for each class) and jsonl (lines with labels), "
       "or a folder with the four IDX files of MNIST's naming, plain or "
       "gzipped",
       d.data, any_text(&S::data)},
      {"path", "PATH",
       "the file of the text, table or lines; the folder of images, or of "
       "cifar's "
       "binary files",
       "none", any_text(&S::path)},
      chosen("symbols", "NAME", "pieces of a text: characters or bytes",
             d.symbols, &S::symbols, {"characters", "bytes"}),
      {"target", "NAME", "the table's column of labels (0, 1, ...)", "the last",
       any_text(&S::target)},
      {"validation", "X",
       "share of a text or table, or of each class, kept for the test",
       shown(d.validation), real(&S::validation, 0.0, 1.0)},
      {"augment", "",
       "train on images cut out at random and mirrored, as on those of a "
       "folder",
       "no", flag(&S::augment)},
      {"no-augment", "",
       "train on the middle of each image of a folder, as it is", "no",
       flag(&S::no_augment)},
      {"batch", "N", "samples in a step", shown(d.batch), whole(&S::batch, 1)},
      {"prefetch", "N", "batches that a reader thread fills ahead",
       shown(d.prefetch), whole(&S::prefetch, 0, data::Loader::kMaxPrefetch)},
  };
}

// How it is trained.
std::vector<Setting> training_settings() {
  using S = TrainSettings;
  const S d;  // the defaults
  return {
      {"epochs", "N", "passes over the training data", shown(d.epochs),
       whole(&S::epochs, 1)},
      {"steps", "N", "training steps, instead of epochs", "none: by epochs",
       whole(&S::steps, 1)},
      {"minutes", "X", "end after this time, if the steps take longer",
       "no limit", real(&S::minutes, 0.0, kInfinity)},
      {"seed", "N", "of initial weights, order of samples and dropout",
       shown(d.seed), set_seed},
      chosen("optimizer", "NAME",
             "sgd, adam, adamw, lion, rmsprop, adafactor or muon", d.optimizer,
             &S::optimizer,
             {"sgd", "adam", "adamw", "lion", "rmsprop", "adafactor", "muon"}),
      {"lr", "X", "learning rate", shown(d.learning_rate),
       real(&S::learning_rate, 0.0, kInfinity)},
      chosen(
          "schedule", "NAME",
          "of the learning rate: cosine or linear (to 0), wsd (to 0 over the "
          "last tenth), one-cycle (up and down again), plateau (lower where "
          "the test loss stands still) or constant",
          d.schedule, &S::schedule,
          {"cosine", "linear", "wsd", "one-cycle", "plateau", "constant"}),
      {"plateau-patience", "N",
       "of the schedule plateau: tests in a row that are no better before the "
       "rate is lowered",
       shown(d.plateau_patience), whole(&S::plateau_patience, 0)},
      {"plateau-factor", "X", "what the rate is then multiplied by",
       shown(d.plateau_factor), real(&S::plateau_factor, 0.0, 1.0)},
      {"warmup", "N", "steps of linear warm-up", shown(d.warmup),
       whole(&S::warmup, 0)},
      {"momentum", "X", "of sgd", shown(d.momentum),
       real(&S::momentum, 0.0, 1.0)},
      {"weight-decay", "X",
       "L2 (sgd, adam, rmsprop) or decoupled (adamw, lion, adafactor, muon)",
       "adamw: 0.01, muon: 0.1, else 0", maybe_real(&S::weight_decay)},
      {"ema", "DECAY",
       "keep exponential moving averages of the weights, like 0.999, and test "
       "with them",
       "none", maybe_real(&S::ema, 1.0)},
      {"eval-every", "N",
       "test after so many steps, too, and not at the end alone",
       "at the end alone", whole(&S::eval_steps, 1)},
      {"clip", "X", "largest norm of the gradient; 0: no clipping",
       shown(d.clip_norm), real(&S::clip_norm, 0.0, kInfinity)},
  };
}

// Settings of the memory that a run may hold, and of its processor.
std::vector<Setting> machine_settings() {
  using S = TrainSettings;
  const S d;  // the defaults
  return {
      {"budget", "BYTES",
       "never hold more than this, code and stacks included; like 64MiB; calls "
       "run again where that makes the run fit",
       "none", set_budget},
      {"spill", "DIR",
       "to meet the budget, let values wait in a file there, too, where that "
       "is quicker; it is written at every step, which wears a disk",
       "none", any_text(&S::spill)},
      {"spill-rate", "BYTES",
       "what that file moves in a second, each way, like 500MiB; given, a run "
       "has the same plan at every start",
       "a part of what is measured", set_spill_rate},
      {"spill-a-day", "BYTES",
       "the most that may be written to that file in a day of steps, like "
       "500GiB: values that would be more are recomputed, or stay",
       "no limit", set_spill_a_day},
      {"costs", "WAY",
       "what calls take, to choose a plan by: \"table\", the same everywhere, "
       "\"measure\", on this machine, or a file, which keeps what was measured",
       shown(d.costs), any_text(&S::costs)},
      {"plan", "FILE",
       "take the plan that meets the budget from there; where there is no such "
       "file, write it: a run then has the same plan at every start, and "
       "nothing is measured or searched",
       "none", any_text(&S::plan)},
      {"compile", "",
       "lay the whole step out in one arena before the first one", "yes",
       flag(&S::compile), "eager", "run each op by itself, at once"},
      {"paged", "", "with the step's arena in pages where that makes it lower",
       "no", flag(&S::paged)},
      {"shards", "N",
       "cut each batch into so many parts, which run one after another, so "
       "that activations are those of a part; the bits of a run depend on it",
       shown(d.shards), whole(&S::shards, 1, 4096)},
      {"rank-timeout", "SECONDS",
       "the time for which a rank waits for another one, where mpirun started "
       "several",
       "60", real(&S::rank_timeout, 0.01, 1e8)},
      {"zero", "0|1",
       "1: of several ranks each has the optimizer's state of some parameters "
       "alone, and updates these for all; 0: each has all of it; the bits and "
       "the checkpoints are the same",
       shown(d.zero), whole(&S::zero, 0, 1)},
      {"threads", "N", "threads that compute; 0: every processor there is",
       shown(d.threads), whole(&S::threads, 0, 256)},
      {"kernels", "NAME|FILE",
       "neap, or a plug-in to put in front: onednn, or its file", d.kernels,
       any_text(&S::kernels)},
      chosen(
          "dtype", "NAME",
          "products of f32 or of numbers rounded to bf16; parameters, sums and "
          "all "
          "else are f32",
          d.dtype, &S::dtype, {"f32", "bf16"}),
  };
}

// Settings of the files that a run writes, or goes on from.
std::vector<Setting> file_settings() {
  using S = TrainSettings;
  return {
      {"save", "FILE", "write a checkpoint there, at the end and on Ctrl-C",
       "none", any_text(&S::save)},
      {"save-every", "N|TIME",
       "and before: after so many steps, or a time like 90s, 10min or 1h",
       "at the end alone", set_save_every},
      {"save-adapter", "DIR",
       "write the adapter there at the end, for the peft package too", "none",
       any_text(&S::save_adapter)},
      {"resume", "FILE", "continue from a checkpoint of the same run", "none",
       any_text(&S::resume)},
      with_choices(
          Setting{
              "verify", "on|off",
              "compare the checksums of a file that is loaded or resumed from",
              "on", on_or_off(&S::verify)},
          {"on", "off"}),
      {"json", "FILE", "write a summary there; - for standard output", "none",
       any_text(&S::json)},
      {"page", "FILE",
       "write a page there that shows where every byte of the planned step is; "
       "it needs no network",
       "none", any_text(&S::page)},
      {"snapshot", "FILE", "write the same for neap report there", "none",
       any_text(&S::snapshot)},
      {"trace", "FILE",
       "write the same there for chrome://tracing and ui.perfetto.dev", "none",
       any_text(&S::trace)},
      {"no-lines", "",
       "without lines of the program in these three, for files that are given "
       "away",
       "no", flag(&S::no_lines)},
      {"metrics", "FILE", "append a line of JSON there for every step", "none",
       any_text(&S::metrics)},
      {"tensorboard", "DIR", "write an event file for TensorBoard there",
       "none", any_text(&S::tensorboard)},
  };
}

// Settings of the text that a run shows meanwhile.
std::vector<Setting> screen_settings() {
  using S = TrainSettings;
  const S d;  // the defaults
  return {
      chosen("progress", "HOW", "auto, bar, plain or none", d.progress,
             &S::progress, {"auto", "bar", "plain", "none"}),
      {"profile", "",
       "take the times of calls in five steps, and say where they went", "no",
       flag(&S::profile)},
      {"verbose", "", "say when a compiled step is traced again, and why", "no",
       flag(&S::verbose)},
  };
}

void add_group(std::vector<Setting>& settings, const char* title,
               std::vector<Setting> group) {
  for (Setting& setting : group) {
    setting.group = title;
    settings.push_back(std::move(setting));
  }
}

std::vector<Setting> make_train_settings() {
  std::vector<Setting> settings;
  add_group(settings, "Model", model_settings());
  add_group(settings, "Data", data_settings());
  add_group(settings, "Training", training_settings());
  add_group(settings, "Memory and machine", machine_settings());
  add_group(settings, "Files", file_settings());
  add_group(settings, "Screen", screen_settings());
  return settings;
}

// A line of train serves plan unchanged.
std::vector<Setting> make_plan_settings() {
  std::vector<Setting> settings;
  add_group(settings, "Plan",
            {{"vocab", "N", "tokens of language models, where there is no text",
              shown(TrainSettings().vocab), whole(&TrainSettings::vocab, 1)},
             {"ranks", "N",
              "what each of so many ranks needs, which share out the shards of "
              "each batch",
              "1", whole(&TrainSettings::ranks, 1, 1024)},
             {"rank", "N", "the rank that is planned, counted from 0", "0",
              whole(&TrainSettings::rank, 0, 1023)},
             {"network", "NAME|FILE",
              "say how long the exchanges of a step take: 1Gb, 10Gb, 25Gb, "
              "100Gb, 400Gb, or what neap network measured",
              "none", any_text(&TrainSettings::network)}});
  const auto all = train_settings();
  settings.insert(settings.end(), all.begin(), all.end());
  return settings;
}

std::vector<Setting> make_fit_settings() {
  std::vector<Setting> settings;
  add_group(
      settings, "Fit",
      {chosen("grow", "WHAT",
              "find the largest batch that the budget can be made to hold",
              "none", &TrainSettings::grow, {"batch"}),
       {"svg", "FILE",
        "draw the curve: budgets to the right, extra time upward", "none",
        any_text(&TrainSettings::svg)}});
  std::ranges::copy_if(
      plan_settings(), std::back_inserter(settings),
      [](const Setting& setting) { return setting.key != "network"; });
  return settings;
}

std::vector<Setting> make_eval_settings() {
  std::vector<Setting> settings;
  add_group(
      settings, "Model",
      {{"load", "FILE", "a model that was saved, or a checkpoint", "none",
        any_text(&TrainSettings::load)},
       with_choices(Setting{"averages", "on|off",
                            "take the averages of a checkpoint that has them "
                            "(--ema), not the weights beside them",
                            "on", on_or_off(&TrainSettings::averages)},
                    {"on", "off"}),
       from_setting(),
       adapter_setting(),
       weights_setting()});
  constexpr std::string_view kKept[] = {
      "model",  "data",    "path",    "symbols", "validation",
      "width",  "layers",  "dim",     "heads",   "block",
      "hidden", "batch",   "threads", "kernels", "dtype",
      "budget", "compile", "json",    "target",  "verify"};
  for (const Setting& setting : train_settings()) {
    if (std::find(std::begin(kKept), std::end(kKept), setting.key) !=
        std::end(kKept)) {
      settings.push_back(setting);
    }
  }
  return settings;
}

}  // namespace

std::span<const Setting> train_settings() {
  static const std::vector<Setting> settings = make_train_settings();
  return settings;
}

std::span<const Setting> plan_settings() {
  static const std::vector<Setting> settings = make_plan_settings();
  return settings;
}

std::span<const Setting> fit_settings() {
  static const std::vector<Setting> settings = make_fit_settings();
  return settings;
}

std::span<const Setting> eval_settings() {
  static const std::vector<Setting> settings = make_eval_settings();
  return settings;
}

}  // namespace neap::app
