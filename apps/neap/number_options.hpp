// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Options of a command that take a number, as strict as the settings are.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "numbers.hpp"

namespace neap::app {

/// Adds an option whose text is a number from `least` to `most`, and no nan.
/// `expected` says so in the line of a refusal. LIFETIME: `into` outlives the
/// command.
template <class T>
CLI::Option* add_number(CLI::App& command, const std::string& name, T& into,
                        T least, T most, const std::string& expected,
                        const std::string& help) {
  return command.add_option_function<std::string>(
      name,
      [&into, name, least, most, expected](const std::string& text) {
        T value{};
        if (!parse_number(text, value) || !(value >= least && value <= most)) {
          throw CLI::ValidationError(name, "'" + text + "' is not " + expected);
        }
        into = value;
      },
      help);
}

}  // namespace neap::app
