// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "eval_command.hpp"

#include <fmt/format.h>

#include <optional>

#include "json_object.hpp"
#include "neap/base/shown.hpp"
#include "neap/data/loader.hpp"
#include "neap/files/door.hpp"
#include "neap/train/fit.hpp"
#include "output_files.hpp"
#include "run_parts.hpp"
#include "saved_model.hpp"
#include "task.hpp"
#include "text_file.hpp"

namespace neap::app {
namespace {

std::string to_json(const train::Evaluation& found, bool has_accuracy) {
  const bool says_accuracy = has_accuracy && found.samples > 0;
  return JsonObject()
      .add("samples", found.samples)
      .add("loss", found.loss)
      .add("accuracy",
           says_accuracy ? std::optional(found.accuracy) : std::nullopt)
      .text();
}

std::string to_text(const train::Evaluation& found, bool has_accuracy) {
  if (found.samples == 0) {
    return "loss none: there is no test part\n";
  }
  const std::string accuracy =
      has_accuracy ? fmt::format("accuracy {:.2f} %, ", found.accuracy * 100.0)
                   : std::string();
  return fmt::format("{}loss {:.4f}, over {} samples\n", accuracy, found.loss,
                     format_grouped(found.samples));
}

// Checks that the summary takes the place of no file that was read.
Result<void> check_files(const TrainSettings& s) {
  files::Door& door = files::system_door();
  const NamedFile json = json_file(s);
  std::vector<NamedFile> inputs = data_files(door, s);
  inputs.push_back({"--load", s.load});
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
  if (auto loaded =
          load_into(*model, settings.load, verify_of(settings.verify));
      !loaded) {
    return fail(ExitCode::kData, loaded.error().message);
  }
  data::Loader loader((*task)->test(),
                      {.batch = test_batch(settings.batch, **task)});
  const train::Evaluation found = train::evaluate(
      *model, loader, {.loss = (*task)->loss(), .compile = settings.compile});
  const bool has_accuracy = (*task)->has_accuracy();
  const bool is_json = !settings.json.empty();
  const auto written = write_report(
      files::system_door(), is_json ? settings.json : "-",
      is_json ? to_json(found, has_accuracy) : to_text(found, has_accuracy));
  return written ? ExitCode::kOk
                 : fail(ExitCode::kOutput, written.error().message);
}

}  // namespace

ExitCode eval(const Texts& given) {
  const auto path = given.find("load");
  if (path == given.end()) {
    return fail(ExitCode::kUsage, "eval: --load must say which model");
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
