// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The neap command: arguments in, exit status out. Everything that can go wrong
// ends in one line on standard error and a documented status.
#include <fmt/format.h>

#include <cstdio>
#include <new>
#include <span>
#include <string>

#include "command_line.hpp"
#include "exit_code.hpp"
#include "fit_command.hpp"
#include "kept_plan.hpp"
#include "launch_command.hpp"
#include "neap/base/external.hpp"
#include "neap/base/shown.hpp"
#include "neap/data/read_error.hpp"
#include "neap/files/door.hpp"
#include "neap/files/io_error.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/threads/pool.hpp"
#include "neap/threads/thread_error.hpp"
#include "output_files.hpp"
#include "plan_command.hpp"
#include "process.hpp"
#include "ranks.hpp"
#include "run_parts.hpp"
#include "settings.hpp"
#include "startup_pages.hpp"
#include "train_command.hpp"
#include "within_budget.hpp"

namespace neap::app {
namespace {

// The settings of a run: what the command line says goes before the file.
Result<TrainSettings> settings_of(std::span<const Setting> table,
                                  const Arguments& arguments) {
  TrainSettings settings;
  if (!arguments.config.empty()) {
    const auto texts = read_toml(files::system_door(), arguments.config);
    if (!texts) {
      return tl::unexpected(texts.error());
    }
    const std::string where = base::shown_path(arguments.config) + ": ";
    if (texts->contains("epochs") && texts->contains("steps")) {
      return failure(FailureKind::kMismatch,
                     where + "epochs and steps exclude each other");
    }
    if (auto set = apply(table, *texts, where, settings); !set) {
      return tl::unexpected(set.error());
    }
    // Epochs on the command line go before steps in the file.
    if (arguments.texts.contains("epochs")) {
      settings.steps = 0;
    }
  }
  settings.config = arguments.config;
  if (auto set = apply(table, arguments.texts, "--", settings); !set) {
    return tl::unexpected(set.error());
  }
  return settings;
}

// Every error that a command may end with has its status.
template <class Run>
ExitCode guarded(const Run& run) {
  try {
    return run();
  } catch (const DistError&) {  // of several ranks: run_on() knows
    throw;
  } catch (const OutOfMemory& error) {
    return fail(ExitCode::kMemory, error.what());
  } catch (const PlanFileError& error) {
    return refuse_plan(error);
  } catch (const IoError& error) {  // of the spill file, or the plan file
    return fail(ExitCode::kOutput, error.what());
  } catch (const data::ReadError& error) {  // of a file that changed meanwhile
    return fail(ExitCode::kData, error.what());
  } catch (const ThreadError& error) {
    return fail(ExitCode::kMemory, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::kMemory, kNoMemory);
  } catch (const ValueError& error) {
    return fail(ExitCode::kUsage, error.what());
  } catch (const ShapeError& error) {  // the data's do not suit the model
    return fail(ExitCode::kData, error.what());
  } catch (const std::exception& error) {
    return fail(ExitCode::kInternal, error.what());
  }
}

ExitCode run_train(const Arguments& arguments) {
  auto settings = settings_of(train_settings(), arguments);
  if (is_memory_short()) {  // numbers are read through streams
    return fail(ExitCode::kMemory, kNoMemory);
  }
  if (!settings) {
    return fail(ExitCode::kUsage, settings.error().message);
  }
  const dist::Group group = join_ranks(*settings);
  return run_on(group, [&] {
    if (auto good =
            check_task(*settings)
                .and_then([&] { return check_ranks(*settings); })
                .and_then([&] { return check(*settings, settings->steps); });
        !good) {
      return fail(ExitCode::kUsage, good.error().message);
    }
    base::external_at_start();  // with the pages below: an upper bound
    drop_startup_pages();
    return guarded([&] { return train(*settings); });
  });
}

// A command that says beforehand what a run will be like.
ExitCode run_ahead(std::span<const Setting> table, const Arguments& arguments,
                   ExitCode (*command)(const TrainSettings&)) {
  const auto settings = settings_of(table, arguments);
  if (is_memory_short()) {
    return fail(ExitCode::kMemory, kNoMemory);
  }
  if (!settings) {
    return fail(ExitCode::kUsage, settings.error().message);
  }
  auto good = has_task(*settings) ? check_task(*settings) : Result<void>();
  good = good.and_then([&] { return check_ranks(*settings); }).and_then([&] {
    return check(*settings, settings->steps);
  });
  if (!good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  if (!settings->compile) {
    return fail(ExitCode::kUsage,
                "--eager: only a step that runs as a plan is known beforehand");
  }
  base::external_at_start();
  drop_startup_pages();
  // The line is one of train: what that refuses, this does.
  good = check_train_files(files::system_door(), *settings);
  if (!good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  const auto precision = precision_of(*settings);
  if (!precision) {
    return fail(ExitCode::kUsage, precision.error().message);
  }
  const UsePrecision use(*precision);
  threads::set_default_threads(static_cast<int>(settings->threads));
  return command(*settings);
}

ExitCode run_plan(const Arguments& arguments) {
  return run_ahead(plan_settings(), arguments, plan);
}

ExitCode run_fit(const Arguments& arguments) {
  return run_ahead(fit_settings(), arguments, fit);
}

ExitCode run_line(const CommandLine& line) {
  if (is_memory_short()) {  // the parser writes its texts through streams
    return fail(ExitCode::kMemory, kNoMemory);
  }
  if (line.run) {
    return line.run();
  }
  if (line.text.empty()) {
    return fail(
        ExitCode::kUsage,
        fmt::format("{}; try neap --help", base::shown_message(line.refusal)));
  }
  static_cast<void>(std::fwrite(line.text.data(), 1, line.text.size(), stdout));
  return ExitCode::kOk;
}

// Refuses, before anything is started, what train itself would refuse.
ExitCode launch_train(const LaunchSettings& launched,
                      const Arguments& arguments) {
  const auto settings = settings_of(train_settings(), arguments);
  if (!settings) {
    return fail(ExitCode::kUsage, settings.error().message);
  }
  const auto good =
      check_task(*settings)
          .and_then([&] { return check(*settings, settings->steps); })
          .and_then([&] {
            return check_train_files(files::system_door(), *settings);
          });
  return good ? launch(launched, *settings)
              : fail(ExitCode::kUsage, good.error().message);
}

ExitCode run_launch(const LaunchSettings& launched) {
  if (launched.words.empty() || launched.words[0] != "train") {
    return fail(ExitCode::kUsage,
                "launch runs neap train: neap launch --ranks 4,2 -- train ... "
                "--save FILE");
  }
  std::vector<std::string> words = launched.words;
  words.insert(words.begin(), "neap");
  std::vector<char*> pointers;
  pointers.reserve(words.size());
  for (std::string& word : words) {
    pointers.push_back(word.data());
  }
  CommandLine line;
  Commands commands;
  commands.train = [&](const Arguments& arguments) {
    return launch_train(launched, arguments);
  };
  parse(static_cast<int>(pointers.size()), pointers.data(), commands, line);
  return run_line(line);
}

ExitCode run(int argc, char** argv) {
  CommandLine line;
  parse(argc, argv, {run_train, run_plan, run_fit, run_launch}, line);
  return run_line(line);
}

// Printed text may still be in a buffer, or be lost already: a full disk must
// not look like success.
ExitCode after_output(ExitCode code) {
  const bool is_good = code == ExitCode::kOk ||
                       code == ExitCode::kInterrupted ||
                       code == ExitCode::kTerminated;
  const bool is_lost = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  return is_good && is_lost
             ? fail(ExitCode::kOutput,
                    "standard output: not all of it could be written")
             : code;
}

ExitCode guarded_run(int argc, char** argv) {
  try {
    return guarded([&] { return run(argc, argv); });
  } catch (const DistError& error) {
    return fail(ExitCode::kRanks, error.what());
  }
}

}  // namespace
}  // namespace neap::app

int main(int argc, char** argv) {
  using neap::app::after_output;
  neap::app::hold_standard_streams();
  return static_cast<int>(after_output(neap::app::guarded_run(argc, argv)));
}
