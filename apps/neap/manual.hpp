// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The tool's manual page, and what shells need to complete its words, made from
// what the command line knows.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace neap::app {

struct OptionHelp {
  std::string name;        // "--model"
  std::string short_name;  // "-v"; or ""
  std::string metavar;     // "" of a flag
  std::string about;
  std::string group;
  std::vector<std::string> choices;

  /// It takes the name of a file or folder.
  bool is_path() const;
};

struct CommandHelp {
  std::string name;
  std::string about;
  std::string operand;          // "FILE"; or ""
  std::string operand_choices;  // "bash zsh", where it is one of few words
  std::vector<OptionHelp> options;
};

/// `form`: "man" (a page of section 1, in roff), "bash", "zsh" or "fish".
std::string manual(std::span<const CommandHelp> commands,
                   std::string_view form);

}  // namespace neap::app
