// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "exit_code.hpp"
#include "neap/base/version.hpp"

namespace neap::app {
namespace {

std::string replaced(std::string text, std::string_view what,
                     std::string_view by) {
  for (std::size_t at = text.find(what); at != std::string::npos;
       at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

// --- the page ----------------------------------------------------------------

std::string roff(const std::string& text) {
  std::string safe = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
  return safe.starts_with(".") || safe.starts_with("'") ? "\\&" + safe : safe;
}

std::string roff_of(const OptionHelp& option) {
  const std::string name = option.short_name.empty()
                               ? option.name
                               : option.short_name + ", " + option.name;
  return option.metavar.empty()
             ? fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(option.about))
             : fmt::format(".TP\n.BI {} \" {}\"\n{}\n", roff(name),
                           roff(option.metavar), roff(option.about));
}

std::string roff_of(const CommandHelp& command) {
  std::string text = fmt::format(
      ".SH \"NEAP {}\"\n.B neap {}\n[\\fIoptions\\fR]{}\n.PP\n{}.\n",
      command.name, command.name,
      command.operand.empty() ? "" : " " + command.operand,
      roff(command.about));
  std::string group;
  for (const OptionHelp& option : command.options) {
    if (option.group != group) {
      group = option.group;
      text += fmt::format(".SS \"{}\"\n", roff(group));
    }
    text += roff_of(option);
  }
  return text;
}

std::string man_page(std::span<const CommandHelp> commands) {
  std::string text = fmt::format(
      ".TH NEAP 1 \"\" \"neap {}\" \"User Commands\"\n"
      ".SH NAME\nneap \\- trains neural networks within the memory you give "
      "them\n"
      ".SH SYNOPSIS\n.B neap\n\\fIcommand\\fR [\\fIoptions\\fR]\n",
      version());
  for (const CommandHelp& command : commands) {
    text += roff_of(command);
  }
  return text + ".SH \"EXIT STATUS\"\n" + roff(kExitCodeHelp);
}

// --- shells ------------------------------------------------------------------

std::string names_of(std::span<const CommandHelp> commands) {
  std::vector<std::string_view> names;
  for (const CommandHelp& command : commands) {
    names.push_back(command.name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

std::string options_of(const CommandHelp& command) {
  std::vector<std::string_view> names;
  for (const OptionHelp& option : command.options) {
    names.push_back(option.name);
  }
  return fmt::format("{}", fmt::join(names, " "));
}

// Words after an option are one of its choices, a file, or anything.
std::string bash(std::span<const CommandHelp> commands) {
  std::string values;
  std::string words;
  std::vector<std::string> seen;
  for (const CommandHelp& command : commands) {
    words += fmt::format("    {}) words='{} {}' ;;\n", command.name,
                         options_of(command), command.operand_choices);
    for (const OptionHelp& option : command.options) {
      const bool is_new =
          std::find(seen.begin(), seen.end(), option.name) == seen.end();
      if (!is_new || option.metavar.empty()) {
        continue;
      }
      seen.push_back(option.name);
      values += fmt::format(
          "    {}) COMPREPLY=($(compgen {} -- \"$word\")); return ;;\n",
          option.name,
          !option.choices.empty()
              ? fmt::format("-W '{}'", fmt::join(option.choices, " "))
          : option.is_path() ? "-f"
                             : "-W ''");
    }
  }
  return fmt::format(
      "# Completion of neap in bash: source it, or put it where the shell "
      "looks.\n"
      "_neap() {{\n"
      "  local word=${{COMP_WORDS[COMP_CWORD]}} words\n"
      "  case ${{COMP_WORDS[COMP_CWORD-1]}} in\n{}  esac\n"
      "  case ${{COMP_WORDS[1]}} in\n{}    *) words='{}' ;;\n  esac\n"
      "  if ((COMP_CWORD == 1)); then words='{}'; fi\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  if [[ $word != -* && $COMP_CWORD -gt 1 ]]; then\n"
      "    COMPREPLY+=($(compgen -f -- \"$word\"))\n  fi\n}}\n"
      "complete -o filenames -F _neap neap\n",
      values, words, names_of(commands), names_of(commands));
}

std::string zsh_quoted(const std::string& text) {
  std::string safe = text;
  for (const std::string_view special : {"\\", "[", "]", ":"}) {
    safe = replaced(safe, special, fmt::format("\\{}", special));
  }
  return replaced(safe, "'", "'\\''");
}

std::string zsh(std::span<const CommandHelp> commands) {
  std::string text = "#compdef neap\n_neap() {\n  local -a commands=(\n";
  for (const CommandHelp& command : commands) {
    text +=
        fmt::format("    '{}:{}'\n", command.name, zsh_quoted(command.about));
  }
  text +=
      "  )\n  if ((CURRENT == 2)); then\n    _describe command commands\n"
      "    return\n  fi\n  local command=$words[2]\n  shift words\n"
      "  ((CURRENT--))\n  case $command in\n";
  for (const CommandHelp& command : commands) {
    text += fmt::format("    {}) _arguments \\\n", command.name);
    for (const OptionHelp& option : command.options) {
      const std::string after =
          option.metavar.empty() ? ""
          : !option.choices.empty()
              ? fmt::format(":{}:({})", option.metavar,
                            fmt::join(option.choices, " "))
          : option.is_path() ? ":" + option.metavar + ":_files"
                             : ":" + option.metavar + ": ";
      text += fmt::format("      '{}[{}]{}' \\\n", option.name,
                          zsh_quoted(option.about), after);
    }
    text +=
        command.operand.empty() ? "      ;;\n" : "      '1:file:_files' ;;\n";
  }
  return text + "  esac\n}\n_neap \"$@\"\n";
}

std::string fish(std::span<const CommandHelp> commands) {
  const auto quoted = [](const std::string& text) {
    return replaced(replaced(text, "\\", "\\\\"), "'", "\\'");
  };
  std::string text = "complete -c neap -f\n";
  for (const CommandHelp& command : commands) {
    text +=
        fmt::format("complete -c neap -n __fish_use_subcommand -a {} -d '{}'\n",
                    command.name, quoted(command.about));
    const std::string seen =
        fmt::format("-n '__fish_seen_subcommand_from {}'", command.name);
    for (const OptionHelp& option : command.options) {
      const std::string after =
          option.metavar.empty() ? ""
          : !option.choices.empty()
              ? fmt::format(" -x -a '{}'", fmt::join(option.choices, " "))
              : std::string(option.is_path() ? " -r -F" : " -x");
      text += fmt::format("complete -c neap {} -l {} -d '{}'{}\n", seen,
                          option.name.substr(2), quoted(option.about), after);
    }
    if (!command.operand.empty()) {
      text += fmt::format("complete -c neap {} -F\n", seen);
    }
  }
  return text;
}

}  // namespace

bool OptionHelp::is_path() const {
  return metavar.find("FILE") != std::string::npos ||
         metavar.find("DIR") != std::string::npos || metavar == "PATH" ||
         metavar == "PLAN.csv";
}

std::string manual(std::span<const CommandHelp> commands,
                   std::string_view form) {
  if (form == "man") {
    return man_page(commands);
  }
  if (form == "bash") {
    return bash(commands);
  }
  return form == "zsh" ? zsh(commands) : fish(commands);
}

}  // namespace neap::app
