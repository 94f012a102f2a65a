// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Options that are numbers within a range.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "numbers.hpp"

namespace neap::app {

// An option whose text is a number from `least` to `most`, and no nan.
template <class T>
struct NumberOption {
  std::string name;
  T least;
  T most;
  std::string expected;  // the range in words, for a refusal
  std::string help;
};

// LIFETIME: `into` outlives the command.
template <class T>
CLI::Option* add_number(CLI::App& command, T& into,
                        const NumberOption<T>& number) {
  return command.add_option_function<std::string>(
      number.name,
      [&into, number](const std::string& text) {
        T value{};
        if (!parse_number(text, value) ||
            !(value >= number.least && value <= number.most)) {
          throw CLI::ValidationError(
              number.name, "'" + text + "' is not " + number.expected);
        }
        into = value;
      },
      number.help);
}

}  // namespace neap::app
