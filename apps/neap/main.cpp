// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The neap command: arguments in, exit status out. Everything that can go wrong
// ends in one line on standard error and a documented status.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <functional>
#include <new>
#include <string>
#include <vector>

#include "eval_command.hpp"
#include "exit_code.hpp"
#include "neap/base/external.hpp"
#include "neap/base/shown.hpp"
#include "neap/base/version.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/out_of_memory.hpp"
#include "neap/threads/thread_error.hpp"
#include "nearest.hpp"
#include "pack_command.hpp"
#include "plan_command.hpp"
#include "process.hpp"
#include "sample_command.hpp"
#include "settings.hpp"
#include "startup_pages.hpp"
#include "train_command.hpp"

namespace neap::app {
namespace {

struct Arguments {
  Texts texts;         // of the settings given on the command line
  std::string config;  // path of a TOML file
};

void add_flag(CLI::App& command, const Setting& setting, Arguments& arguments) {
  const auto give = [&](const std::string& key, const char* text,
                        const std::string& help) {
    return command.add_flag_callback(
        (key == "verbose" ? "-v,--" : "--") + key,
        [&arguments, key = setting.key, text] { arguments.texts[key] = text; },
        help);
  };
  const bool is_on = setting.shown == "yes";
  CLI::Option* on =
      give(setting.key, "true",
           fmt::format("{} (default {})", setting.help, is_on ? "yes" : "no"));
  if (setting.opposite.empty()) {
    return;
  }
  CLI::Option* off = give(setting.opposite, "false",
                          fmt::format("{} (default {})", setting.opposite_help,
                                      is_on ? "no" : "yes"));
  on->excludes(off);
}

void add_settings(CLI::App& command, std::span<const Setting> table,
                  Arguments& arguments) {
  for (const Setting& setting : table) {
    if (setting.is_flag()) {
      add_flag(command, setting, arguments);
      continue;
    }
    command
        .add_option_function<std::string>(
            "--" + setting.key,
            [&arguments, key = setting.key](const std::string& text) {
              arguments.texts[key] = text;
            },
            fmt::format("{} (default {})", setting.help, setting.shown))
        ->type_name(setting.metavar);
  }
}

void add_train_options(CLI::App& command, Arguments& arguments) {
  add_settings(command, train_settings(), arguments);
  command
      .add_option("--config", arguments.config,
                  "TOML file with the same settings (table [train]); what the "
                  "command line says goes before it (default none)")
      ->type_name("FILE");
  command.get_option("--steps")->excludes("--epochs");
}

ExitCode run_train(const Arguments& arguments) {
  TrainSettings settings;
  if (!arguments.config.empty()) {
    const auto texts = read_toml(files::system_door(), arguments.config);
    if (is_memory_short()) {  // numbers are read through streams
      return fail(ExitCode::kMemory, kNoMemory);
    }
    if (!texts) {
      return fail(ExitCode::kUsage, texts.error().message);
    }
    if (texts->contains("epochs") && texts->contains("steps")) {
      return fail(ExitCode::kUsage,
                  base::shown_path(arguments.config) +
                      ": epochs and steps exclude each other");
    }
    if (auto set = apply(train_settings(), *texts,
                         base::shown_path(arguments.config) + ": ", settings);
        !set) {
      return fail(ExitCode::kUsage, set.error().message);
    }
    // Epochs on the command line go before steps in the file.
    if (arguments.texts.contains("epochs")) {
      settings.steps = 0;
    }
  }
  settings.config = arguments.config;
  if (auto set = apply(train_settings(), arguments.texts, "--", settings);
      !set) {
    return fail(ExitCode::kUsage, set.error().message);
  }
  if (auto good = check_task(settings).and_then(
          [&] { return check(settings, settings.steps); });
      !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  base::external_at_start();  // with the pages below: an upper bound
  drop_startup_pages();
  return train(settings);
}

ExitCode run_plan(const Arguments& arguments, bool is_json) {
  TrainSettings settings;
  if (auto set = apply(plan_settings(), arguments.texts, "--", settings);
      !set) {
    return fail(ExitCode::kUsage, set.error().message);
  }
  if (auto good = check_task(settings); has_task(settings) && !good) {
    return fail(ExitCode::kUsage, good.error().message);
  }
  base::external_at_start();
  drop_startup_pages();
  return plan(settings, is_json);
}

// What the command line says.
struct CommandLine {
  Arguments train;
  Arguments plan;
  bool is_plan_json = false;
  PackSettings pack;
  Arguments eval;
  SampleSettings sample;
  std::function<ExitCode()> run;  // the command that was given
  std::string text;               // or what is printed instead: --help
  std::string refusal;            // or why the arguments are bad
};

CLI::App& add_command(CLI::App& cli, const char* name, const char* about,
                      CommandLine& line, std::function<ExitCode()> run) {
  CLI::App& command = *cli.add_subcommand(name, about);
  command.footer(kExitCodeHelp);
  command.callback([&line, run = std::move(run)] { line.run = run; });
  return command;
}

void add_commands(CLI::App& cli, CommandLine& line) {
  add_train_options(
      add_command(cli, "train", "train a network on images or text", line,
                  [&line] { return run_train(line.train); }),
      line.train);
  CLI::App& planning = add_command(
      cli, "plan", "say what a training run will need, before it allocates",
      line, [&line] { return run_plan(line.plan, line.is_plan_json); });
  add_settings(planning, plan_settings(), line.plan);
  planning.add_flag("--json", line.is_plan_json, "print JSON instead");
  add_pack_options(
      add_command(cli, "pack",
                  "give buffers with lifetimes offsets in one block of memory",
                  line, [&line] { return pack(line.pack); }),
      line.pack);
  add_settings(add_command(cli, "eval", "measure a model from a file", line,
                           [&line] { return eval(line.eval.texts); }),
               eval_settings(), line.eval);
  add_sample_options(
      add_command(cli, "sample", "write text by a language model from a file",
                  line, [&line] { return sample(line.sample); }),
      line.sample);
}

// "help" and "version" are words, too: neap help train.
std::vector<std::string> words_of(int argc, char** argv) {
  std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  if (words.empty()) {
    return words;
  }
  if (words[0] == "version") {
    words[0] = "--version";
  } else if (words[0] == "help") {
    words.erase(words.begin());
    words.emplace_back("--help");
  }
  return words;
}

// Why the first word is no command; "" where it is one, or an option.
std::string refusal_of_command(const CLI::App& cli,
                               const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const CLI::App* command :
       cli.get_subcommands([](auto*) { return true; })) {
    names.push_back(command->get_name());
  }
  if (words.empty()) {
    return fmt::format("there is no command: {}", fmt::join(names, ", "));
  }
  const std::string& word = words[0];
  const bool is_known =
      word.starts_with("-") ||
      std::find(names.begin(), names.end(), word) != names.end();
  return is_known ? ""
                  : fmt::format("there is no command '{}'{}", base::shown(word),
                                did_you_mean(word, names));
}

// Of an option that the command does not have, without its value.
std::string refusal_of_options(const CLI::App& cli, const std::string& what) {
  for (const CLI::App* command : cli.get_subcommands()) {
    std::vector<std::string> names;
    for (const CLI::Option* option : command->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
    for (const std::string& rest : command->remaining()) {
      if (rest.starts_with("-")) {
        const std::string given = rest.substr(0, rest.find('='));
        return fmt::format("{} has no option {}{}", command->get_name(),
                           base::shown(given), did_you_mean(given, names));
      }
    }
  }
  return what;
}

// The parser's memory goes before anything is measured.
void parse(int argc, char** argv, CommandLine& line) {
  CLI::App cli(
      "Neap trains neural networks with memory as a contract: every byte has "
      "an owner,\nthe budget is never passed, everything is given back.",
      "neap");
  cli.set_version_flag("-V,--version", fmt::format("neap {}", version()));
  cli.footer(kExitCodeHelp);
  cli.require_subcommand(1);
  add_commands(cli, line);
  std::vector<std::string> words = words_of(argc, argv);
  line.refusal = refusal_of_command(cli, words);
  if (!line.refusal.empty()) {
    return;
  }
  std::reverse(words.begin(), words.end());  // the parser takes from the back
  try {
    cli.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    line.text = cli.help();
  } catch (const CLI::CallForVersion& version) {
    line.text = version.what() + std::string("\n");
  } catch (const CLI::ExtrasError& error) {
    line.refusal = refusal_of_options(cli, error.what());
  } catch (const CLI::ParseError& error) {
    line.refusal = error.what();
  }
}

ExitCode run(int argc, char** argv) {
  CommandLine line;
  parse(argc, argv, line);
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

// What was printed may still be in a buffer, or be lost already: a full disk
// must not look like success.
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
    return run(argc, argv);
  } catch (const OutOfMemory& error) {
    return fail(ExitCode::kMemory, error.what());
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

}  // namespace
}  // namespace neap::app

int main(int argc, char** argv) {
  using neap::app::after_output;
  neap::app::hold_standard_streams();
  return static_cast<int>(after_output(neap::app::guarded_run(argc, argv)));
}
