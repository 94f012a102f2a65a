// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// neap_fuzz_steps: random steps, eager and compiled, until the time is up or
// one fails. Behind ./dev fuzz steps.
#include <fmt/format.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <optional>

#include "calls.hpp"
#include "hunt.hpp"

namespace neap::steps {
namespace {

constexpr int kFound = 1;
constexpr int kUsage = 2;

constexpr std::string_view kHelp =
    R"(usage: neap_fuzz_steps [OPTION...]
Runs random programs of steps, eagerly and compiled, and compares the bits.

  --seed N         the first program (1)
  --programs N     how many
  --seconds S      for how long (60, where --programs is not given)
  --all            go on after a fault; tell each class once
  --only T,T...    themes to draw from
  --without T,T... themes to leave out
  --show           print the program of --seed, and what it does
  --replay FILE    run a program of a file, as it was printed

themes: )";

// Prints the seed where the process dies.
void on_signal(int number) {
  const std::uint64_t seed = current_seed();
  std::fprintf(stderr, "signal %d in seed %llu\n", number,
               static_cast<unsigned long long>(seed));
  std::signal(number, SIG_DFL);
  std::raise(number);
}

Themes themes_of(std::string_view names) {
  Themes themes{};
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(','), names.size());
    const auto found =
        std::find(kThemeNames.begin(), kThemeNames.end(), names.substr(0, end));
    if (found == kThemeNames.end()) {
      throw ValueError("neap_fuzz_steps: no such theme, see --help");
    }
    themes[static_cast<std::size_t>(found - kThemeNames.begin())] = true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return themes;
}

struct Arguments {
  Hunt hunt;
  bool is_shown = false;
  std::string replayed;
};

Arguments arguments_of(std::span<char*> words) {
  Arguments out;
  std::optional<double> seconds;
  const auto value = [&](std::size_t& i) -> std::string {
    if (i + 1 >= words.size()) {
      throw ValueError("neap_fuzz_steps: an option lacks its value");
    }
    return words[++i];
  };
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--seed") {
      out.hunt.first = std::stoull(value(i));
    } else if (word == "--programs") {
      out.hunt.programs = std::stoll(value(i));
    } else if (word == "--seconds") {
      seconds = std::stod(value(i));
    } else if (word == "--all") {
      out.hunt.all = true;
    } else if (word == "--only") {
      out.hunt.themes = themes_of("values," + value(i));
    } else if (word == "--without") {
      const Themes without = themes_of(value(i));
      for (std::size_t k = 0; k < kThemes; ++k) {
        out.hunt.themes[k] = out.hunt.themes[k] && !without[k];
      }
    } else if (word == "--show") {
      out.is_shown = true;
    } else if (word == "--replay") {
      out.replayed = value(i);
    } else {
      throw ValueError("neap_fuzz_steps: no such option, see --help");
    }
  }
  const bool is_counted =
      out.hunt.programs != std::numeric_limits<std::int64_t>::max();
  out.hunt.seconds = seconds.value_or(
      is_counted ? std::numeric_limits<double>::infinity() : 60.0);
  return out;
}

int show(const StepProgram& program) {
  std::cout << to_text(program) << std::flush;
  if (first_throw(program)) {
    std::cout << "the plain step throws\n";
    return kFound;
  }
  const Verdict verdict = judge(program);
  std::cout << to_text(verdict) << '\n';
  for (const auto& [kind, count] : verdict.refusals) {
    std::cout << fmt::format("{:8} {}\n", count, kind);
  }
  return verdict.is_good() ? 0 : kFound;
}

StepProgram read_program(const std::string& path) {
  std::ifstream file(path);
  if (!file) {
    throw ValueError("neap_fuzz_steps: the file cannot be opened");
  }
  return from_text(std::string(std::istreambuf_iterator<char>(file), {}));
}

int run(std::span<char*> words) {
  if (words.size() > 1 && std::string_view(words[1]) == "--help") {
    std::cout << kHelp << fmt::format("{}\n", fmt::join(kThemeNames, " "));
    return 0;
  }
  const Arguments arguments = arguments_of(words);
  if (!arguments.replayed.empty()) {
    return show(read_program(arguments.replayed));
  }
  if (arguments.is_shown) {
    return show(generate(arguments.hunt.first, arguments.hunt.themes));
  }
  const Findings findings = hunt(arguments.hunt);
  std::cout << to_text(findings);
  return findings.faults == 0 ? 0 : kFound;
}

}  // namespace
}  // namespace neap::steps

int main(int argc, char** argv) {
  for (const int number : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS}) {
    std::signal(number, neap::steps::on_signal);
  }
  try {
    return neap::steps::run({argv, static_cast<std::size_t>(argc)});
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return neap::steps::kUsage;
  }
}
