// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rule: a kind of action: its name in texts, what its operands may be, how
// often it is drawn, and what it does.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "step_program.hpp"

namespace neap::steps {

class Scene;

/// The subject of an action. Programs are drawn over some of them.
enum class Theme : std::uint8_t {
  kValues,     // ops on values, and what is returned
  kViews,      // views of values, as results too
  kRebinding,  // captured handles that are assigned
  kWrites,     // writes into tensors that exist
  kGradients,  // backward, gradients that are set, read, cleared
  kHooks,
  kModes,      // train, eval, freeze, requires_grad_, NoGrad
  kQuestions,  // flags that the step asks about
  kPrecision,
  kOptimizer,  // updates and settings
  kReadings,   // lr(), step_count(), options() read by the step
  kNumbers,    // numbers of the host's
  kKeeping,    // tensors of the step that are kept outside
  kChance,
  kUndefined,  // handles that mean nothing any more, in a last call
  kScopes,     // blocks, calls, stretches of the program that are one
  kModules,    // layers, pointers and lists that are exchanged
  kLayouts,    // arguments that do not lie dense, alone, at the start
};
inline constexpr std::array kThemeNames{
    "values",  "views",     "rebinding", "writes",    "gradients", "hooks",
    "modes",   "questions", "precision", "optimizer", "readings",  "numbers",
    "keeping", "chance",    "undefined", "scopes",    "modules",   "layouts"};
inline constexpr std::size_t kThemes = kThemeNames.size();

using Body = std::function<void()>;

struct Rule {
  std::string_view name;
  /// Operands, by the letters that each may have, or "#n" for a number below
  /// n: "r rhals #4".
  std::string_view form;
  Theme theme = Theme::kValues;
  int in_step = 0;  // how often it is drawn in steps, and between calls
  int between = 0;
  /// Null for what is done to the compiled step, and for what has `around`.
  void (*act)(Scene& scene, const Action& action) = nullptr;
  /// In place of `act`: runs the next actions inside of something. Operand 0
  /// is their number.
  void (*around)(Scene& scene, const Action& action,
                 const Body& body) = nullptr;
};

// By theme, each in a source of its own.
std::span<const Rule> value_rules();
std::span<const Rule> state_rules();
std::span<const Rule> gradient_rules();
std::span<const Rule> hook_rules();
std::span<const Rule> mode_rules();
std::span<const Rule> scope_rules();
std::span<const Rule> module_rules();
std::span<const Rule> outside_rules();

/// All of them.
std::span<const Rule* const> rules();
/// Null where there is none.
const Rule* find_rule(std::string_view name);
/// The form of each operand.
std::vector<std::string_view> forms_of(const Rule& rule);

}  // namespace neap::steps
