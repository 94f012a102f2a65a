// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "settings.hpp"

#include <fmt/format.h>

#include "neap/base/shown.hpp"

namespace neap::app {

bool is_language_model(const std::string& model) {
  return model == "gpt" || model == "lstm" || model == "gru" ||
         model == kPretrained;
}

bool has_task(const TrainSettings& settings) {
  return !is_language_model(settings.model) || is_for_pretrained(settings.data);
}

bool is_for_pretrained(const std::string& data) {
  return data == "text" || data == "images" || data == "jsonl";
}

Result<void> apply(std::span<const Setting> table, const Texts& texts,
                   const std::string& where, TrainSettings& settings) {
  if (texts.contains("from") && texts.contains("model")) {
    return failure(FailureKind::kMismatch,
                   where + "from and model exclude each other");
  }
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
    settings.given.insert(setting.key);
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

namespace {

// Widths of weights that a pretrained model alone has.
Result<void> check_weights(const TrainSettings& s) {
  if (s.weights == "f32") {
    return {};
  }
  if (s.from.empty()) {
    return failure(FailureKind::kMismatch,
                   "--weights: --from must say which model it is for");
  }
  if (s.dtype != "f32") {
    return failure(FailureKind::kMismatch,
                   fmt::format("--weights {}: products in {} (--dtype) round "
                               "weights that are f32",
                               s.weights, s.dtype));
  }
  return {};
}

// Settings that mean nothing to the data: what asks for them expects more.
Result<void> check_unused(const TrainSettings& s,
                          std::span<const char* const> keys) {
  for (const char* key : keys) {
    if (s.given.contains(key)) {
      return failure(FailureKind::kMismatch,
                     fmt::format("--{}: --data {} has no use for it; leave it "
                                 "out",
                                 key, s.data));
    }
  }
  return {};
}

// Images in sub-folders, for a model of a folder.
Result<void> check_images(const TrainSettings& s) {
  constexpr const char* kUnused[] = {"block", "symbols", "target",
                                     "vocab", "hidden",  "layers",
                                     "dim",   "heads",   "width"};
  if (s.from.empty()) {
    return failure(FailureKind::kMismatch,
                   "--data images: --from must say which model is trained on "
                   "them; those of --model take IDX files, or cifar10");
  }
  if (s.path.empty()) {
    return failure(FailureKind::kMismatch,
                   "--data images: --path must say which folder has a "
                   "sub-folder of images for each class");
  }
  if (s.augment && s.no_augment) {
    return failure(FailureKind::kMismatch,
                   "--augment and --no-augment exclude each other");
  }
  return check_unused(s, kUnused);
}

// Lines with labels, likewise.
Result<void> check_lines(const TrainSettings& s) {
  constexpr const char* kUnused[] = {"symbols", "target",    "vocab", "hidden",
                                     "layers",  "dim",       "heads", "width",
                                     "augment", "no-augment"};
  if (s.from.empty()) {
    return failure(FailureKind::kMismatch,
                   "--data jsonl: --from must say which model is trained on "
                   "the lines");
  }
  if (s.path.empty()) {
    return failure(FailureKind::kMismatch,
                   "--data jsonl: --path must say which file has a line like "
                   "{\"text\": \"low tide\", \"label\": \"calm\"} for each "
                   "text");
  }
  return check_unused(s, kUnused);
}

}  // namespace

Result<void> check_task(const TrainSettings& s) {
  if (auto good = check_table(s).and_then([&] { return check_weights(s); });
      !good) {
    return good;
  }
  if (s.from.empty() && !s.adapter.empty()) {
    return failure(FailureKind::kMismatch,
                   "--adapter: --from must say which model it is for");
  }
  if (s.adapter.empty() && !s.save_adapter.empty()) {
    return failure(FailureKind::kMismatch,
                   "--save-adapter: there is no --adapter to save");
  }
  if (s.data == "images") {
    return check_images(s);
  }
  if (s.data == "jsonl") {
    return check_lines(s);
  }
  if (s.no_augment) {
    return failure(FailureKind::kMismatch,
                   "--no-augment: only --data images has no need of --augment");
  }
  const bool is_text = s.data == "text";
  if (is_text != is_language_model(s.model)) {
    return failure(
        FailureKind::kMismatch,
        fmt::format("{}: works on {}, not on --data {}{}",
                    s.from.empty() ? "--model " + s.model : "--from",
                    is_text ? "images" : "text", s.data,
                    is_text          ? ""
                    : s.from.empty() ? "; say --data text --path FILE"
                                     : "; say --data text or jsonl "
                                       "--path FILE, or --data images "
                                       "--path FOLDER"));
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

namespace {

Result<void> check_plateau(const TrainSettings& settings) {
  if (settings.schedule != "plateau") {
    return {};
  }
  if (settings.eval_steps == 0) {
    return failure(FailureKind::kMismatch,
                   "--schedule plateau: --eval-every must say after how many "
                   "steps the loss is measured");
  }
  if (settings.warmup > 0) {
    return failure(FailureKind::kMismatch,
                   "--warmup: the schedule plateau has no warm-up");
  }
  return {};
}

}  // namespace

Result<void> check(const TrainSettings& settings, std::int64_t steps) {
  if (auto good = check_weights(settings); !good) {
    return good;
  }
  if (settings.weights != "f32" && settings.adapter.empty()) {
    return failure(FailureKind::kMismatch,
                   fmt::format("--weights {}: such weights are not trained; "
                               "--adapter must say what is",
                               settings.weights));
  }
  if (settings.paged && !settings.compile) {
    return failure(FailureKind::kMismatch,
                   "--paged: only a step that runs as a plan (not --eager) "
                   "has an arena");
  }
  if (settings.shards > 1 && !settings.compile) {
    return failure(FailureKind::kMismatch,
                   "--shards: only a step that runs as a plan (not --eager) is "
                   "cut into shards");
  }
  const bool has_view =
      !(settings.page + settings.snapshot + settings.trace).empty();
  if (!settings.compile && (has_view || settings.profile)) {
    return failure(FailureKind::kMismatch,
                   "--page, --snapshot, --trace, --profile: only a step that "
                   "runs as a plan (not --eager) can be shown");
  }
  if (settings.warmup > 0 && settings.schedule == "one-cycle") {
    return failure(FailureKind::kMismatch,
                   "--warmup: the schedule one-cycle has a warm-up of its own");
  }
  if (settings.warmup > 0 && steps > 0 && settings.warmup >= steps) {
    return failure(FailureKind::kMismatch,
                   fmt::format("--warmup: {} steps of warm-up leave none of {}",
                               settings.warmup, steps));
  }
  if (auto good = check_plateau(settings); !good) {
    return good;
  }
  if (settings.save.empty() &&
      (settings.save_steps > 0 || settings.save_seconds > 0.0)) {
    return failure(FailureKind::kMismatch,
                   "--save-every: there is no --save that says where");
  }
  return {};
}

}  // namespace neap::app
