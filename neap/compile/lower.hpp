// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// lower: the program of a step and its plan, as compile would create them,
// without running anything. No tensor is allocated, so that a model larger than
// the machine can be planned (its parameters come from a dry run).
#pragma once

#include "neap/compile/compile.hpp"

namespace neap {
namespace compiler {

struct Lowered {
  Program program;
  Plan plan;
  Prediction prediction;
};

/// Lowers a step over lists, for arguments of these specs and as many threads
/// as the context's executor has.
/// THROWS: as trace(), bind() and plan(); ValueError for a .keep of no result
/// and for a .budget.
NEAP_API Lowered lower_step(Step step, std::span<const tensor::Spec> arguments,
                            const CompileOptions& options,
                            const CallSite& site);

/// The program of a step, as traced: where ranks share out the batch, for the
/// rows of all of them. THROWS: as trace(); ValueError for an argument with
/// rows and gaps.
Program trace_of_all(Step step, const GivenArguments& given,
                     const CallSite& site);

/// Traces and marks kept results; the passes are still to run.
NEAP_API Program trace_for(Step step, const GivenArguments& given,
                           const CompileOptions& options, const CallSite& site);

}  // namespace compiler

/// auto lowered = neap::lower(step, {Spec{f32, {64, 784}}, Spec{i64, {64}}});
/// lowered.plan.arena_bytes();
template <std::size_t n, class F>
compiler::Lowered lower(
    F&& step, const tensor::Spec (&specs)[n],  // NOLINT(*-avoid-c-arrays)
    const CompileOptions& options = {}, CallSite site = CallSite::here()) {
  return compiler::lower_step(compiler::as_step<n>(step), specs, options, site);
}
template <std::size_t n, class F>
compiler::Lowered lower(F&& step, const std::array<tensor::Spec, n>& specs,
                        const CompileOptions& options = {},
                        CallSite site = CallSite::here()) {
  return compiler::lower_step(compiler::as_step<n>(step), specs, options, site);
}

}  // namespace neap
