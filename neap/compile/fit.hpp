// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// fit: all arenas that a step can be made to fit, and what each costs, before
// anything runs.
//
//   for (const FitPoint& point : compiler::fit(step, {Spec{f32, {64, 784}}})) {
//     point.arena, point.fitting.percent(point.fitting.extra)
//   }
#pragma once

#include "neap/compile/compile.hpp"

namespace neap::compiler {

/// A plan that none beats: no other that was found needs less memory without
/// taking more time. CompileOptions{.arena_limit = arena} gives it.
struct FitPoint {
  Bytes arena = 0;
  Fitting fitting{};
};

/// Points from the plan with all values kept to the least arena that a plan was
/// found for: arenas fall, and predicted times rise.
using FitCurve = memory::Vector<FitPoint>;

/// The curve of a program of trace_for(). Beside the plan with all values kept,
/// points have at most the options' .arena_limit; their .budget does not
/// matter, and a plan file is neither read nor written.
/// THROWS: as run_passes(), bind() and plan().
NEAP_API FitCurve fit_curve(const Program& traced,
                            const CompileOptions& options);

/// The curve of a step over lists, for arguments of these specs. THROWS: as
/// lower_step(), but not for a .budget.
NEAP_API FitCurve fit_step(Step step, std::span<const tensor::Spec> arguments,
                           const CompileOptions& options, const CallSite& site);

template <std::size_t n, class F>
FitCurve fit(F&& step,
             const tensor::Spec (&specs)[n],  // NOLINT(*-avoid-c-arrays)
             const CompileOptions& options = {},
             CallSite site = CallSite::here()) {
  return fit_step(as_step<n>(step), specs, options, site);
}
template <std::size_t n, class F>
FitCurve fit(F&& step, const std::array<tensor::Spec, n>& specs,
             const CompileOptions& options = {},
             CallSite site = CallSite::here()) {
  return fit_step(as_step<n>(step), specs, options, site);
}

}  // namespace neap::compiler
