// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <limits>
#include <vector>

#include "eval_command.hpp"
#include "manual.hpp"
#include "neap/base/shown.hpp"
#include "neap/base/version.hpp"
#include "neap/planner/problem.hpp"
#include "nearest.hpp"
#include "number_option.hpp"
#include "sample_options.hpp"
#include "tokenizer_options.hpp"
#include "words.hpp"

namespace neap::app {
namespace {

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
  on->group(setting.group);
  if (setting.opposite.empty()) {
    return;
  }
  CLI::Option* off = give(setting.opposite, "false",
                          fmt::format("{} (default {})", setting.opposite_help,
                                      is_on ? "no" : "yes"));
  off->group(setting.group);
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
        ->type_name(setting.metavar)
        ->group(setting.group);
  }
}

// "FILE" of "FILE:{a,b}", which CLI11 makes of a type and its members.
std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}

// Names and values of options, without what CLI11 says of them besides.
class PlainFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const bool is_flag = option->get_items_expected_max() == 0;
    return is_flag ? "" : " " + type_of(*option);
  }
};

// Lines of at most 80 columns; the description of an option or a command goes
// on below itself.
std::string wrapped(const std::string& text) {
  constexpr std::size_t kWidth = 80;
  constexpr std::size_t kColumn = 30;  // of the descriptions
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string line = text.substr(at, end - at);
    const bool is_entry = line.starts_with("  ");
    while (line.size() > kWidth) {
      const std::size_t space = line.rfind(' ', kWidth);
      if (space == std::string::npos || space <= kColumn) {
        break;
      }
      out += line.substr(0, space) + "\n";
      line = std::string(is_entry ? kColumn : 0, ' ') + line.substr(space + 1);
    }
    out += line + "\n";
    at = end + 1;
  }
  return out;
}

// The settings of a run, from here and from a file.
void add_run_options(CLI::App& command, std::span<const Setting> table,
                     Arguments& arguments) {
  add_settings(command, table, arguments);
  command
      .add_option("--config", arguments.config,
                  "TOML file with the same settings (table [train]); the "
                  "command line takes precedence over it (default none)")
      ->type_name("FILE")
      ->group("Files");
  command.get_option("--steps")->excludes("--epochs");
}

void add_pack_options(CLI::App& command, PackSettings& settings) {
  command
      .add_option("problem", settings.problem,
                  "CSV with the columns lower, upper (half-open) and size; "
                  "alignment, fixed, alias_of and alias_at may follow")
      ->type_name("FILE")
      ->required();
  add_number(command, settings.capacity,
             {"--capacity", std::int64_t{1}, planner::kNoLimit - 1,
              "a whole number from 1 to 2^63 - 2",
              "stop at the first plan that is no higher; exit status 4 when "
              "none is found (default none: as low as possible)"})
      ->type_name("N");
  add_number(command, settings.seconds,
             {"--seconds", std::numeric_limits<double>::min(),
              std::numeric_limits<double>::max(), "a finite number above 0",
              "search for so long at most (default: a fixed amount of work, "
              "which gives the same plan every time)"})
      ->type_name("S");
  command
      .add_option("--out", settings.out,
                  "write the same rows with a column offset (default none)")
      ->type_name("PLAN.csv");
  command
      .add_option("--svg", settings.svg,
                  "draw the plan: time to the right, memory upward (default "
                  "none)")
      ->type_name("FILE");
  command.add_flag("--json", settings.is_json,
                   "print one JSON object instead of the table");
}

void add_report_options(CLI::App& command, ReportSettings& settings) {
  command
      .add_option("snapshot", settings.snapshot,
                  "what neap train or neap plan wrote with --snapshot")
      ->type_name("FILE")
      ->required();
  command
      .add_option("other", settings.other,
                  "a later one: what changed from the first to it")
      ->type_name("FILE");
  const auto file = [&](const char* name, std::string& into,
                        const char* about) {
    command.add_option(name, into, about)->type_name("FILE");
  };
  file("--page", settings.page,
       "write a page there that needs no network (default none)");
  file("--pickle", settings.pickle,
       "write it there for PyTorch's memory_viz (default none)");
  file("--folded", settings.folded,
       "write the peak there for a flame graph (default none)");
  file(
      "--trace", settings.trace,
      "write it there for chrome://tracing and ui.perfetto.dev (default none)");
  file("--svg", settings.svg, "draw the arena there (default none)");
  command.add_flag("--markdown", settings.is_markdown,
                   "print the tables as Markdown");
}

void add_doctor_options(CLI::App& command, DoctorSettings& settings) {
  command
      .add_option("program", settings.words,
                  "a program that links Neap and its arguments, after --")
      ->type_name("-- PROGRAM");
  command
      .add_option("--page", settings.page,
                  "write a page there of what it did (default none)")
      ->type_name("FILE");
  command
      .add_option("--snapshot", settings.snapshot,
                  "write the snapshot there (default none)")
      ->type_name("FILE");
}

void add_launch_options(CLI::App& command, LaunchSettings& settings) {
  command
      .add_option("command", settings.words,
                  "train and its options, with --save FILE, after --")
      ->type_name("-- train OPTIONS");
  command
      .add_option("--ranks", settings.ranks,
                  "of the first start, of the next, and so on; the last one "
                  "stays; powers of two that divide --shards")
      ->required()
      ->type_name("N,N,...");
  add_number(command, settings.restarts,
             {"--restarts", std::int64_t{0}, std::int64_t{1'000'000},
              "a whole number from 0 to 1000000",
              "starts after the first one, at most (default 10)"})
      ->type_name("N");
  command
      .add_option("--mpirun", settings.mpirun,
                  "Open MPI's mpirun (default: that in PATH)")
      ->type_name("FILE");
  command
      .add_option("--mpirun-options", settings.options,
                  "of its own, between spaces, like \"--hostfile hosts\" "
                  "(default none)")
      ->type_name("WORDS");
}

CLI::App& add_command(CLI::App& cli, const char* name, const char* about,
                      CommandLine& line, std::function<ExitCode()> run) {
  CLI::App& command = *cli.add_subcommand(name, about);
  command.footer(kExitCodeHelp);
  command.callback([&line, run = std::move(run)] { line.run = run; });
  return command;
}

// Commands of runs with several ranks.
void add_rank_commands(CLI::App& cli, const Commands& commands,
                       CommandLine& line) {
  add_launch_options(
      add_command(cli, "launch",
                  "run train on several ranks under mpirun, and start it again "
                  "from its last checkpoint where one is lost",
                  line,
                  [&line, run = commands.launch] { return run(line.launch); }),
      line.launch);
  add_command(cli, "network",
              "measure the network between two ranks, for neap plan", line,
              [&line] { return run_network(line.network); })
      .add_option("--out", line.network.out,
                  "write the figures there, for --network (default none)")
      ->type_name("FILE");
}

void add_commands(CLI::App& cli, const Commands& commands, CommandLine& line) {
  add_run_options(
      add_command(cli, "train", "train a network", line,
                  [&line, run = commands.train] { return run(line.train); }),
      train_settings(), line.train);
  add_run_options(
      add_command(cli, "plan",
                  "say what the same line of train will need, and end with 4 "
                  "where the budget does not suffice",
                  line,
                  [&line, run = commands.plan] { return run(line.plan); }),
      plan_settings(), line.plan);
  add_run_options(
      add_command(cli, "fit",
                  "say what each budget costs that the same line of train can "
                  "be made to fit",
                  line, [&line, run = commands.fit] { return run(line.fit); }),
      fit_settings(), line.fit);
  add_rank_commands(cli, commands, line);
  add_pack_options(
      add_command(cli, "pack",
                  "give buffers with lifetimes offsets in one block of memory",
                  line, [&line] { return pack(line.pack); }),
      line.pack);
  add_report_options(
      add_command(cli, "report", "show what a snapshot of a step says", line,
                  [&line] { return run_report(line.report); }),
      line.report);
  add_doctor_options(
      add_command(cli, "doctor",
                  "run a program that links Neap, and say what it leaked, what "
                  "grew, and what its peak was",
                  line, [&line] { return run_doctor(line.doctor); }),
      line.doctor);
  add_settings(add_command(cli, "eval", "measure a model from a file", line,
                           [&line] { return eval(line.eval.texts); }),
               eval_settings(), line.eval);
  add_sample_options(
      add_command(cli, "sample", "write text by a language model from a file",
                  line, [&line] { return sample(line.sample); }),
      line.sample);
  add_tokenizer_options(
      add_command(cli, "tokenizer",
                  "turn text into the ids of a tokenizer.json and back, or "
                  "learn one from texts",
                  line, [&line] { return run_tokenizer(line.tokenizer); }),
      line.tokenizer);
  add_command(cli, "manual",
              "print the manual page, or the completions of a shell", line, {})
      .add_option("form", line.manual, "man, bash, zsh or fish")
      ->required()
      ->type_name("FORM")
      ->check(CLI::IsMember({"man", "bash", "zsh", "fish"}));
}

// --- the manual --------------------------------------------------------------

std::vector<std::string> choices_of(const std::string& key) {
  for (const Setting& setting : train_settings()) {
    if ("--" + setting.key == key) {
      return setting.choices;
    }
  }
  return {};
}

// "a b" of "FILE:{a,b}".
std::string member_names(const CLI::Option& option) {
  std::string type = option.get_type_name();
  const std::size_t open = type.find('{');
  if (open == std::string::npos) {
    return "";
  }
  type = type.substr(open + 1, type.find('}') - open - 1);
  std::replace(type.begin(), type.end(), ',', ' ');
  return type;
}

OptionHelp describe(const CLI::Option& option) {
  OptionHelp help;
  help.name = "--" + option.get_lnames().front();
  help.short_name =
      option.get_snames().empty() ? "" : "-" + option.get_snames().front();
  help.metavar = option.get_items_expected_max() == 0 ? "" : type_of(option);
  help.about = option.get_description();
  help.group = option.get_group();
  help.choices = choices_of(help.name);
  return help;
}

CommandHelp describe(const CLI::App& command) {
  CommandHelp help{command.get_name(), command.get_description(), "", "", {}};
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_lnames().empty()) {
      help.operand = type_of(*option);
      help.operand_choices = member_names(*option);
    } else {
      help.options.push_back(describe(*option));
    }
  }
  return help;
}

std::string manual_of(const CLI::App& cli, const std::string& form) {
  std::vector<CommandHelp> commands;
  for (const CLI::App* command :
       cli.get_subcommands([](auto*) { return true; })) {
    commands.push_back(describe(*command));
  }
  return manual(commands, form);
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

// The message about an option that the command does not have.
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
      return fmt::format("{} takes no '{}'", command->get_name(),
                         base::shown(rest));
    }
  }
  return what;
}

// The message about what is missing: a command, or what it cannot do without.
std::string refusal_of_missing(const CLI::App& cli, const std::string& what) {
  const auto given = cli.get_subcommands();
  if (given.empty()) {
    return refusal_of_command(cli, {});
  }
  for (const CLI::Option* option : given.front()->get_options()) {
    if (option->get_required() && option->count() == 0) {
      return fmt::format("{} needs {}{}: {}", given.front()->get_name(),
                         option->get_lnames().empty()
                             ? ""
                             : "--" + option->get_lnames().front() + " ",
                         type_of(*option), option->get_description());
    }
  }
  return what;
}

// The message about an option without a value, or with several.
std::string refusal_of_count(const CLI::App& cli, const std::string& what) {
  const std::string name = what.substr(0, what.find(':'));
  for (const CLI::App* command : cli.get_subcommands()) {
    const CLI::Option* option = command->get_option_no_throw(name);
    if (option != nullptr) {
      return option->count() > 1
                 ? fmt::format("{} is given {} times; give it once", name,
                               option->count())
                 : fmt::format("{} needs a value: {}", name, type_of(*option));
    }
  }
  return what;
}

}  // namespace

void parse(int argc, char** argv, const Commands& commands, CommandLine& line) {
  CLI::App cli(
      "Neap trains neural networks with memory as a contract: every byte has "
      "an owner,\nthe budget is never exceeded, everything is freed.",
      "neap");
  cli.set_version_flag("-V,--version", fmt::format("neap {}", version()));
  cli.formatter(std::make_shared<PlainFormatter>());  // of its commands, too
  cli.footer(kExitCodeHelp);
  cli.require_subcommand(1);
  add_commands(cli, commands, line);
  auto [words, program] = words_of(argc, argv);
  line.refusal = refusal_of_command(cli, words);
  if (!line.refusal.empty()) {
    return;
  }
  std::reverse(words.begin(), words.end());  // the parser takes from the back
  try {
    cli.parse(std::move(words));
    for (std::vector<std::string>* words_behind :
         {&line.doctor.words, &line.launch.words}) {
      words_behind->insert(words_behind->end(), program.begin(), program.end());
    }
    if (!line.manual.empty()) {
      line.text = manual_of(cli, line.manual);
    }
  } catch (const CLI::CallForHelp&) {
    line.text = wrapped(cli.help());
  } catch (const CLI::CallForVersion& version) {
    line.text = version.what() + std::string("\n");
  } catch (const CLI::ExtrasError& error) {
    line.refusal = refusal_of_options(cli, error.what());
  } catch (const CLI::RequiredError& error) {
    line.refusal = refusal_of_missing(cli, error.what());
  } catch (const CLI::ArgumentMismatch& error) {
    line.refusal = refusal_of_count(cli, error.what());
  } catch (const CLI::ParseError& error) {
    line.refusal = error.what();
  }
}

}  // namespace neap::app
