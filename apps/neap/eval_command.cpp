// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "eval_command.hpp"

#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "json_object.hpp"
#include "line_task.hpp"
#include "neap/base/shown.hpp"
#include "neap/data/loader.hpp"
#include "neap/files/door.hpp"
#include "neap/train/fit.hpp"
#include "output_files.hpp"
#include "photo_task.hpp"
#include "pretrained_task.hpp"
#include "run_parts.hpp"
#include "saved_model.hpp"
#include "task.hpp"
#include "text_file.hpp"

namespace neap::app {
namespace {

std::string to_json(const train::Evaluation& found, bool has_accuracy,
                    bool has_perplexity) {
  const bool says_accuracy = has_accuracy && found.samples > 0;
  JsonObject json;
  json.add("samples", found.samples)
      .add("loss", found.loss)
      .add("accuracy",
           says_accuracy ? std::optional(found.accuracy) : std::nullopt);
  if (has_perplexity) {
    json.add("perplexity", std::exp(found.loss));
  }
  return json.text();
}

std::string to_text(const train::Evaluation& found, bool has_accuracy,
                    bool has_perplexity) {
  if (found.samples == 0) {
    return "loss none: there is no test part\n";
  }
  const std::string accuracy =
      has_accuracy ? fmt::format("accuracy {:.2f} %, ", found.accuracy * 100.0)
                   : std::string();
  const std::string perplexity =
      has_perplexity ? fmt::format("perplexity {:.3f}, ", std::exp(found.loss))
                     : std::string();
  return fmt::format("{}loss {:.4f}, {}over {} samples\n", accuracy, found.loss,
                     perplexity, format_grouped(found.samples));
}

// Checks that the summary takes the place of no file that was read.
Result<void> check_files(const TrainSettings& s) {
  files::Door& door = files::system_door();
  const NamedFile json = json_file(s);
  std::vector<NamedFile> inputs = data_files(door, s);
  inputs.push_back({"--load", s.load});
  add_pretrained(door, s.from, inputs);
  return check_distinct(door, std::span(&json, 1), inputs);
}

// The data that the model was trained on, unless others are named.
Result<void> choose_data(const Texts& given, SavedModel& saved) {
  if (is_language_model(saved.settings.model)) {
    saved.settings.data = "text";
  }
  const auto named = given.find("data");
  const auto noted = saved.data.find("data");
  if (named != given.end() &&
      (noted == saved.data.end() || noted->second != named->second)) {
    return {};
  }
  return apply(eval_settings(), saved.data,
               base::shown_path(given.at("load")) + ": ", saved.settings);
}

// A model, and what it is measured on.
struct Subject {
  nn::Layer& model;
  data::AnyDataset set;
  std::int64_t batch;
  train::Loss loss;
  bool has_accuracy;
  bool has_perplexity = false;
  std::string remarks{};  // whole lines before the text
};

ExitCode measure(const TrainSettings& settings, const Subject& subject) {
  data::Loader loader(subject.set, {.batch = subject.batch});
  const train::Evaluation found =
      train::evaluate(subject.model, loader,
                      {.loss = subject.loss, .compile = settings.compile});
  const bool has_perplexity = subject.has_perplexity;
  const bool is_json = !settings.json.empty();
  const auto written = write_report(
      files::system_door(), is_json ? settings.json : "-",
      is_json ? to_json(found, subject.has_accuracy, has_perplexity)
              : subject.remarks +
                    to_text(found, subject.has_accuracy, has_perplexity));
  return written ? ExitCode::kOk
                 : fail(ExitCode::kOutput, written.error().message);
}

ExitCode run(const SavedModel& saved) {
  const TrainSettings& settings = saved.settings;
  const auto task = make_task(settings);
  if (!task) {
    return fail(ExitCode::kData, task.error().message);
  }
  const data::Vocabulary* vocabulary = (*task)->vocabulary();
  if (vocabulary != nullptr && saved.vocabulary &&
      *saved.vocabulary != *vocabulary) {
    return fail(ExitCode::kData,
                "the text has other characters than the one that the model was "
                "trained on");
  }
  const auto make = [&] { return (*task)->make_model(); };
  if (auto good = check_fits(make, settings.load); !good) {
    return fail(ExitCode::kData, good.error().message);
  }
  const std::unique_ptr<nn::Layer> model = make();
  if (auto loaded = load_into(*model, settings.load, verify_of(settings.verify),
                              settings.averages);
      !loaded) {
    return fail(ExitCode::kData, loaded.error().message);
  }
  return measure(settings, {.model = *model,
                            .set = (*task)->test(),
                            .batch = test_batch(settings.batch, **task),
                            .loss = (*task)->loss(),
                            .has_accuracy = (*task)->has_accuracy()});
}

// The whole of a text, or the part at its end that --validation says.
Result<data::TextSet> text_to_measure(const TrainSettings& settings,
                                      const models::PretrainedConfig& config,
                                      bool has_validation) {
  return read_ids(settings, config)
      .and_then([&](const data::Text& text) -> Result<data::TextSet> {
        if (has_validation) {
          return data::split_text(text, {.block = settings.block,
                                         .validation = settings.validation})
              .map([](data::TextParts&& parts) { return parts.validation; });
        }
        data::TextSet whole(text, {.block = settings.block});
        if (whole.size() == 0) {
          return failure(
              FailureKind::kMismatch,
              fmt::format("{}: {} tokens do not make a block of {} "
                          "and its next token; say a smaller --block",
                          base::shown_path(settings.path), text.size(),
                          settings.block));
        }
        return whole;
      });
}

// Loads a checkpoint, where there is one.
Result<void> load_weights(nn::Layer& model, const TrainSettings& s) {
  return s.load.empty() ? Result<void>() : load_over(model, s);
}

// The model of a folder, with its own weights or those of a checkpoint.
ExitCode run_pretrained(const TrainSettings& settings, bool has_validation) {
  const auto config = look_at_pretrained(settings);
  if (!config) {
    return fail(ExitCode::kData, config.error().message);
  }
  const auto set = text_to_measure(settings, *config, has_validation);
  if (!set) {
    return fail(ExitCode::kData, set.error().message);
  }
  const std::unique_ptr<nn::Layer> model = make_pretrained_model(settings);
  if (auto loaded = load_weights(*model, settings); !loaded) {
    return fail(ExitCode::kData, loaded.error().message);
  }
  return measure(settings, {.model = *model,
                            .set = *set,
                            .batch = std::min(settings.batch, set->size()),
                            .loss = language_loss(),
                            .has_accuracy = false,
                            .has_perplexity = true});
}

// The folder's model, or that of a checkpoint, on samples with classes; all of
// them, or the share that --validation says.
ExitCode run_classes(const TrainSettings& settings, bool has_validation) {
  const ClassTest test = has_validation ? ClassTest::kShare : ClassTest::kAll;
  const auto task = settings.data == "images" ? make_photo_task(settings, test)
                                              : make_line_task(settings, test);
  if (!task) {
    return fail(ExitCode::kData, task.error().message);
  }
  const std::unique_ptr<nn::Layer> model = (*task)->make_model();
  if (auto loaded = load_weights(*model, settings); !loaded) {
    return fail(ExitCode::kData, loaded.error().message);
  }
  const data::AnyDataset set = (*task)->test();
  return measure(settings, {.model = *model,
                            .set = set,
                            .batch = std::min(settings.batch, set.size()),
                            .loss = (*task)->loss(),
                            .has_accuracy = true,
                            .remarks = (*task)->remarks()});
}

// Settings that are of the command line alone.
Result<TrainSettings> pretrained_settings(const Texts& given) {
  TrainSettings settings;
  settings.data = "text";
  settings.batch = 8;
  return apply(eval_settings(), given, "--", settings)
      .and_then([&] { return check_task(settings); })
      .and_then([&] { return set_up(settings); })
      .and_then([&] { return check_files(settings); })
      .map([&] { return settings; });
}

}  // namespace

ExitCode eval(const Texts& given) {
  if (given.contains("from")) {
    const auto settings = pretrained_settings(given);
    if (!settings) {
      return fail(ExitCode::kUsage, settings.error().message);
    }
    const auto precision = precision_of(*settings);
    if (!precision) {
      return fail(ExitCode::kUsage, precision.error().message);
    }
    const UsePrecision use(*precision);
    const bool has_validation = given.contains("validation");
    return settings->data == "text" ? run_pretrained(*settings, has_validation)
                                    : run_classes(*settings, has_validation);
  }
  const auto path = given.find("load");
  if (path == given.end()) {
    return fail(ExitCode::kUsage,
                "eval: --load must say which model, or --from");
  }
  TrainSettings own;  // those of the file go below them
  if (auto good = apply(eval_settings(), given, "--", own); !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  auto saved = describe_saved(path->second, verify_of(own.verify));
  if (!saved) {
    return fail(ExitCode::kData, saved.error().message);
  }
  if (auto good = choose_data(given, *saved); !good) {
    return fail(ExitCode::kData, good.error().message);
  }
  TrainSettings& settings = saved->settings;
  if (auto good = apply(eval_settings(), given, "--", settings)
                      .and_then([&] { return check_task(settings); })
                      .and_then([&] { return set_up(settings); });
      !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  const auto precision = precision_of(settings);
  if (!precision) {
    return fail(ExitCode::kUsage, precision.error().message);
  }
  const UsePrecision use(*precision);
  if (auto good = check_files(settings); !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  return run(*saved);
}

}  // namespace neap::app
