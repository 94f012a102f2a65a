// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "step_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "neap/base/raise.hpp"
#include "rules.hpp"

namespace neap::steps {
namespace {

using base::raise;

std::string text_of(const Operand& operand) {
  return operand.where == '#'
             ? std::to_string(operand.index)
             : fmt::format("{}{}", operand.where, operand.index);
}

std::string text_of(const Action& action) {
  std::string text(action.rule->name);
  for (std::size_t i = 0; i < forms_of(*action.rule).size(); ++i) {
    text += ' ' + text_of(action.operands[i]);
  }
  return text;
}

std::string text_of(const Argument& argument) {
  return fmt::format("{}:{}:{}",
                     kLayoutNames[static_cast<std::size_t>(argument.layout)],
                     argument.rows, argument.seed);
}

class Reader {
 public:
  explicit Reader(std::string_view text) : in_(std::string(text)) {}

  StepProgram read() {
    std::string line;
    while (std::getline(in_, line)) {
      ++number_;
      std::istringstream words(line);
      std::string word;
      if (words >> word) {
        read_line(word, words);
      }
    }
    return std::move(program_);
  }

 private:
  void read_line(const std::string& first, std::istringstream& words) {
    std::string word;
    if (first == "options") {
      while (words >> word) {
        program_.options.push_back(word);
      }
    } else if (first == "step") {
      target_ = &program_.step;
    } else if (first == "between") {
      target_ = &between_;
    } else if (first == "call") {
      Call call;
      call.before = std::move(between_);
      between_.clear();
      for (Argument& argument : call.arguments) {
        words >> word;
        argument = read_argument(word);
      }
      words >> call.number;
      call.throws = words >> word && word == "throws";
      program_.calls.push_back(std::move(call));
    } else {
      target_->push_back(read_action(first, words));
    }
  }

  int read_int(std::string_view text) const {
    int value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || end != text.data() + text.size()) {
      raise<ValueError>("steps: line {}: '{}' is no number", number_, text);
    }
    return value;
  }

  Argument read_argument(std::string_view text) const {
    Argument argument;
    const std::size_t first = text.find(':');
    const std::size_t second = text.find(':', first + 1);
    const auto found = std::find(kLayoutNames.begin(), kLayoutNames.end(),
                                 text.substr(0, first));
    if (found == kLayoutNames.end() || second == std::string_view::npos) {
      raise<ValueError>("steps: line {}: '{}' is no LAYOUT:ROWS:SEED", number_,
                        text);
    }
    argument.layout = static_cast<Layout>(found - kLayoutNames.begin());
    argument.rows = read_int(text.substr(first + 1, second - first - 1));
    argument.seed = read_int(text.substr(second + 1));
    return argument;
  }

  Action read_action(const std::string& name, std::istringstream& words) const {
    Action action;
    action.rule = find_rule(name);
    if (action.rule == nullptr) {
      raise<ValueError>("steps: line {}: no action is named '{}'", number_,
                        name);
    }
    const auto forms = forms_of(*action.rule);
    for (std::size_t i = 0; i < forms.size(); ++i) {
      std::string word = "?";
      words >> word;
      const bool is_number = forms[i][0] == '#';
      if (!is_number && forms[i].find(word[0]) == std::string_view::npos) {
        raise<ValueError>("steps: line {}: operand '{}' of {}, one of '{}'",
                          number_, word, name, forms[i]);
      }
      action.operands[i] = {
          is_number ? '#' : word[0],
          read_int(std::string_view(word).substr(is_number ? 0 : 1))};
    }
    return action;
  }

  std::istringstream in_;
  int number_ = 0;
  StepProgram program_;
  std::vector<Action> between_;
  std::vector<Action>* target_ = &program_.step;
};

}  // namespace

std::string to_text(const StepProgram& program) {
  std::string text;
  if (!program.options.empty()) {
    text += fmt::format("options {}\n", fmt::join(program.options, " "));
  }
  text += "step\n";
  for (const Action& action : program.step) {
    text += fmt::format("  {}\n", text_of(action));
  }
  for (const Call& call : program.calls) {
    if (!call.before.empty()) {
      text += "between\n";
    }
    for (const Action& action : call.before) {
      text += fmt::format("  {}\n", text_of(action));
    }
    text += fmt::format("call {} {} {}{}\n", text_of(call.arguments[0]),
                        text_of(call.arguments[1]), call.number,
                        call.throws ? " throws" : "");
  }
  return text;
}

StepProgram from_text(std::string_view text) {
  return Reader(text).read();
}

std::size_t count_actions(const StepProgram& program) {
  std::size_t count = program.step.size();
  for (const Call& call : program.calls) {
    count += call.before.size();
  }
  return count;
}

StepProgram without_action(const StepProgram& program, std::size_t action) {
  StepProgram rest = program;
  const auto leave_out = [&](std::vector<Action>& actions) {
    if (action < actions.size()) {
      actions.erase(actions.begin() + static_cast<std::ptrdiff_t>(action));
      return true;
    }
    action -= actions.size();
    return false;
  };
  if (!leave_out(rest.step)) {
    for (Call& call : rest.calls) {
      if (leave_out(call.before)) {
        break;
      }
    }
  }
  return rest;
}

}  // namespace neap::steps
