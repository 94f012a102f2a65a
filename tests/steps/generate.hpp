// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Random programs of steps, and smaller ones with the same fault.
#pragma once

#include <functional>

#include "rules.hpp"
#include "twins.hpp"

namespace neap::steps {

using Themes = std::array<bool, kThemes>;
inline constexpr Themes all_themes() {
  Themes all{};
  all.fill(true);
  return all;
}

/// The program of a seed, over some of `themes`. The plain step throws in no
/// call of it.
StepProgram generate(std::uint64_t seed, const Themes& themes = all_themes());

/// Leaves out calls, actions, options and layouts for as long as `has_fault`.
StepProgram shrink(StepProgram program,
                   const std::function<bool(const StepProgram&)>& has_fault);

/// The class of known faults of tracing that a shrunk program shows, by what it
/// is about: "rebound handle", "hooks", ...
std::string class_of(const StepProgram& shrunk, const Verdict& verdict);

}  // namespace neap::steps
