// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "generate.hpp"

#include <algorithm>
#include <optional>

#include "../programs/random_step.hpp"
#include "calls.hpp"

namespace neap::steps {
namespace {

using programs::Choices;

constexpr int kLeastActions = 3;
constexpr int kMostActions = 10;
constexpr int kCalls = 4;
constexpr int kMostRepairs = 24;

bool has_rule(const StepProgram& program, std::string_view name) {
  return std::any_of(program.step.begin(), program.step.end(),
                     [&](const Action& a) { return a.rule->name == name; });
}

class Maker {
 public:
  Maker(std::uint64_t seed, const Themes& themes) : choices_(seed) {
    program_.seed = seed;
    choose_themes(themes);
  }

  const std::optional<Call>& end() const { return end_; }

  StepProgram make() {
    choose_options();
    const int count =
        kLeastActions + choices_.below(kMostActions - kLeastActions);
    for (int i = 0; i < count; ++i) {
      program_.step.push_back(draw(true));
    }
    const int results = 1 + choices_.below(3);
    for (int i = 0; i < results; ++i) {
      program_.step.push_back(draw_return());
    }
    if (has(Theme::kUndefined)) {
      end_ = draw_end();
    }
    has_shapes_ = choices_.one_in(3);
    for (int i = 0; i < kCalls; ++i) {
      program_.calls.push_back(draw_call(i));
    }
    return std::move(program_);
  }

 private:
  bool& has(Theme theme) { return themes_[static_cast<std::size_t>(theme)]; }

  // Values always, and few of the others, so that what they do is not lost.
  void choose_themes(const Themes& themes) {
    for (std::size_t i = 0; i < kThemes; ++i) {
      themes_[i] = themes[i] && (i == 0 || choices_.one_in(4));
    }
    const auto one = static_cast<std::size_t>(choices_.below(kThemes));
    themes_[one] = themes_[one] || themes[one];
    has(Theme::kLayouts) =
        themes[static_cast<std::size_t>(Theme::kLayouts)] && choices_.one_in(2);
    // Effects of these themes show in gradients and updates alone.
    if (has(Theme::kHooks) || has(Theme::kModes) || has(Theme::kOptimizer)) {
      has(Theme::kGradients) = true;
    }
    // A flag that is asked about shows where it is changed between calls.
    if (has(Theme::kQuestions) && !choices_.one_in(3)) {
      has(Theme::kModes) = themes[static_cast<std::size_t>(Theme::kModes)];
    }
    if (has(Theme::kReadings) && choices_.one_in(2)) {
      has(Theme::kOptimizer) =
          themes[static_cast<std::size_t>(Theme::kOptimizer)];
    }
  }

  void choose_options() {
    if (choices_.one_in(2)) {
      program_.options.emplace_back("keep_all");
    }
    if (choices_.one_in(3)) {
      program_.options.emplace_back(
          kOptionNames[1 + static_cast<std::size_t>(choices_.below(
                               static_cast<int>(kOptionNames.size()) - 1))]);
    }
  }

  Action draw(bool in_step) {
    int total = 0;
    for (const Rule* rule : rules()) {
      total += weight(*rule, in_step);
    }
    int at = choices_.below(std::max(total, 1));
    for (const Rule* rule : rules()) {
      at -= weight(*rule, in_step);
      if (at < 0) {
        return with_operands(*rule, in_step);
      }
    }
    return with_operands(*find_rule("halve"), in_step);
  }

  int weight(const Rule& rule, bool in_step) const {
    return themes_[static_cast<std::size_t>(rule.theme)] &&
                   rule.theme != Theme::kUndefined
               ? (in_step ? rule.in_step : rule.between)
               : 0;
  }

  Action with_operands(const Rule& rule, bool in_step) {
    Action action{.rule = &rule};
    const auto forms = forms_of(rule);
    for (std::size_t i = 0; i < forms.size(); ++i) {
      if (forms[i][0] == '#') {
        const int most = std::stoi(std::string(forms[i].substr(1)));
        action.operands[i] = {'#', choices_.below(most)};
      } else {
        action.operands[i] = draw_operand(forms[i], in_step);
      }
    }
    if (rule.around != nullptr) {
      ++action.operands[0].index;  // one action at least
    }
    return action;
  }

  Operand draw_operand(std::string_view letters, bool in_step) {
    std::string may(letters);
    std::erase(may, in_step ? 'o' : 'a');
    const auto size = static_cast<int>(may.size());
    char where = may[static_cast<std::size_t>(choices_.below(size))];
    if (may.find('r') != std::string::npos && choices_.one_in(3)) {
      where = 'r';
    }
    int index = choices_.below(where == 'l' || where == 'g' ? 5 : 4);
    if (where == 's' && !choices_.one_in(4)) {
      index = 0;  // the one that has the shape of the others
    }
    return {where, index};
  }

  Action draw_return() {
    Action action{.rule = find_rule("return")};
    if (choices_.one_in(8)) {
      action.rule = find_rule("return_graph");
      action.operands[0] = {'r', choices_.below(4)};
      return action;
    }
    action.operands[0] = choices_.one_in(2) ? Operand{'r', choices_.below(4)}
                                            : draw_operand("rahlsvg", true);
    if (choices_.one_in(3)) {
      action.rule = find_rule("return_itself");
      return action;
    }
    const bool has_view =
        themes_[static_cast<std::size_t>(Theme::kViews)] && choices_.one_in(2);
    action.operands[1] = {'#', has_view ? choices_.below(kViewKinds) : 0};
    return action;
  }

  // A handle means nothing in a last call.
  Call draw_end() {
    constexpr std::array kEnds{"undefine", "revoke",   "undefine",
                               "revoke",   "misshape", "retype"};
    // The plain step is given its number as a tensor, which has a dtype.
    const bool has_number = has_rule(program_, "scale");
    const auto which = static_cast<std::size_t>(
        choices_.below(static_cast<int>(kEnds.size()) - (has_number ? 1 : 0)));
    Call call;
    call.before.push_back(with_operands(*find_rule(kEnds[which]), false));
    return call;
  }

  Call draw_call(int number) {
    Call call;
    if (number == 0 && has(Theme::kScopes) && choices_.one_in(2)) {
      const char* name = choices_.one_in(2) ? "open_scope" : "scope_calls";
      call.before.push_back(with_operands(*find_rule(name), false));
    }
    if (number > 0) {
      const int changes = choices_.below(4);
      for (int i = 0; i < changes; ++i) {
        call.before.push_back(draw(false));
      }
      std::erase_if(call.before, [&](const Action& action) {
        return weight(*action.rule, false) == 0;
      });
    }
    const int rows = has_shapes_ && choices_.one_in(2) ? 5 : kRows;
    for (std::size_t i = 0; i < 2; ++i) {
      const int layouts = static_cast<int>(kLayoutNames.size());
      call.arguments[i] = {has(Theme::kLayouts)
                               ? static_cast<Layout>(choices_.below(layouts))
                               : Layout::kDense,
                           rows, number * 2 + static_cast<int>(i) + 1};
    }
    call.number = 0.25 * (1 + choices_.below(4));
    return call;
  }

  Choices choices_;
  Themes themes_{};
  bool has_shapes_ = false;
  StepProgram program_;
  std::optional<Call> end_;
};

std::size_t size_of(const StepProgram& program) {
  return count_actions(program) + program.calls.size() + program.options.size();
}

// Takes each of `count` smaller programs that has the fault still.
template <class Smaller>
bool shrink_by(StepProgram& program, std::size_t count, const Smaller& smaller,
               const std::function<bool(const StepProgram&)>& has_fault) {
  bool is_smaller = false;
  for (std::size_t i = count; i-- > 0;) {
    StepProgram next = smaller(program, i);
    if (size_of(next) < size_of(program) && has_fault(next)) {
      program = std::move(next);
      is_smaller = true;
    }
  }
  return is_smaller;
}

StepProgram without_call(const StepProgram& program, std::size_t call) {
  StepProgram rest = program;
  if (rest.calls.size() > 1) {
    auto& calls = rest.calls;
    if (call + 1 < calls.size()) {
      auto& before = calls[call + 1].before;
      before.insert(before.begin(), calls[call].before.begin(),
                    calls[call].before.end());
    }
    calls.erase(calls.begin() + static_cast<std::ptrdiff_t>(call));
  }
  return rest;
}

StepProgram without_option(const StepProgram& program, std::size_t option) {
  StepProgram rest = program;
  rest.options.erase(rest.options.begin() +
                     static_cast<std::ptrdiff_t>(option));
  return rest;
}

StepProgram with_dense(const StepProgram& program, std::size_t argument) {
  StepProgram rest = program;
  rest.calls[argument / 2].arguments[argument % 2].layout = Layout::kDense;
  return rest;
}

bool has_theme(const StepProgram& program, Theme theme, bool in_step_only) {
  const auto is_of = [&](const Action& a) { return a.rule->theme == theme; };
  const auto& step = program.step;
  bool has = std::any_of(step.begin(), step.end(), is_of);
  for (const Call& call : program.calls) {
    has = has || (!in_step_only &&
                  std::any_of(call.before.begin(), call.before.end(), is_of));
  }
  return has;
}

bool differs_in(const Verdict& verdict, std::string_view name) {
  return std::any_of(verdict.names.begin(), verdict.names.end(),
                     [&](const std::string& n) { return n.starts_with(name); });
}

}  // namespace

StepProgram generate(std::uint64_t seed, const Themes& themes) {
  Maker maker(seed, themes);
  StepProgram program = maker.make();
  for (int i = 0; i < kMostRepairs; ++i) {
    const auto at = first_throw(program);
    if (!at) {
      break;
    }
    program = without_action(program, *at);
  }
  if (first_throw(program)) {
    program.step.clear();
  }
  if (maker.end()) {
    program.calls.push_back(*maker.end());
    program.calls.back().throws = first_throw(program).has_value();
  }
  return program;
}

StepProgram shrink(StepProgram program,
                   const std::function<bool(const StepProgram&)>& has_fault) {
  bool is_smaller = true;
  while (is_smaller) {
    is_smaller =
        shrink_by(program, program.calls.size(), without_call, has_fault);
    is_smaller |=
        shrink_by(program, count_actions(program), without_action, has_fault);
    shrink_by(program, program.options.size(), without_option, has_fault);
  }
  for (std::size_t i = 0; i < 2 * program.calls.size(); ++i) {
    if (StepProgram next = with_dense(program, i); has_fault(next)) {
      program = std::move(next);
    }
  }
  return program;
}

std::string class_of(const StepProgram& shrunk, const Verdict& verdict) {
  if (verdict.fault != "differs") {
    return kind_of(verdict);
  }
  constexpr std::pair<Theme, const char*> kAnywhere[] = {
      {Theme::kPrecision, "precision"},
      {Theme::kHooks, "hooks"},
      {Theme::kReadings, "lr, step_count, options read"},
      {Theme::kNumbers, "host numbers"},
      {Theme::kKeeping, "kept outside"},
      {Theme::kScopes, "scopes"},
      {Theme::kModules, "modules"},
  };
  for (const auto& [theme, name] : kAnywhere) {
    if (has_theme(shrunk, theme, true) ||
        ((theme == Theme::kHooks || theme == Theme::kPrecision ||
          theme == Theme::kScopes || theme == Theme::kModules) &&
         has_theme(shrunk, theme, false))) {
      return name;
    }
  }
  for (const Action& action : shrunk.step) {
    if (action.rule->theme == Theme::kQuestions) {
      return std::string(action.rule->name);
    }
  }
  if (has_theme(shrunk, Theme::kRebinding, true)) {
    return "rebound handle";
  }
  if (differs_in(verdict, "argument")) {
    return "write into an argument";
  }
  if (has_theme(shrunk, Theme::kWrites, true)) {
    return "view of written state";
  }
  if (has_rule(shrunk, "constant")) {
    return "returned constant";
  }
  if (has_rule(shrunk, "set_grad")) {
    return "gradient that is an argument";
  }
  return has_theme(shrunk, Theme::kModes, false) ? "modes"
                                                 : "result or gradient";
}

}  // namespace neap::steps
