// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/lower.hpp"

#include <algorithm>
#include <optional>

#include "neap/base/raise.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/compile/plan_book.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/trail.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

// Shards need arguments with rows, which are dense in memory.
void check_batch(const Program& program, int shards) {
  const auto has_rows = [](const tensor::Spec& spec) {
    return spec.shape.rank() > 0;
  };
  if (std::ranges::none_of(program.arguments, has_rows)) {
    base::raise<ValueError>(
        "compile: .shards is {}, and the step has no argument with rows; pass "
        "it the batch",
        shards);
  }
  for (const GappedArgument& gapped : program.gapped) {
    const Shape& shape = gapped.layout.shape;
    if (shape.rank() > 0 && shape[0] == rows_of_batch(program)) {
      base::raise<ValueError>(
          "compile: .shards is {}, and argument {} of the batch, {}, is a view "
          "with gaps; pass contiguous() of it",
          shards, gapped.argument, format_shape(shape));
    }
  }
}

}  // namespace

Program trace_for(Step step, const GivenArguments& given,
                  const CompileOptions& options, const CallSite& site) {
  GivenArguments late = given;  // a plan may keep state away from the start
  late.is_state_late = options.budget != kUnlimited && options.spill.states &&
                       !options.spill.folder.empty();
  Program program = trace(step, late, site);
  if (options.verify > 0) {
    program.trail = trail_of(program);
  }
  if (options.shards > 1) {
    check_batch(program, options.shards);
    cut_into_shards(program, rows_of_batch(program),
                    static_cast<std::uint32_t>(options.shards));
  }
  for (const int kept : options.keep) {
    if (kept < 0 || static_cast<std::size_t>(kept) >= program.handed) {
      base::raise<ValueError>(
          "compile: .keep names result {}, and the step has {}, counted from 0",
          kept, program.handed);
    }
  }
  for (std::size_t i = 0; i < program.handed; ++i) {
    program.results[i].is_kept =
        options.keep_all ||
        std::find(options.keep.begin(), options.keep.end(),
                  static_cast<int>(i)) != options.keep.end();
  }
  return program;
}

Lowered lower_step(Step step, std::span<const tensor::Spec> arguments,
                   const CompileOptions& options, const CallSite& site) {
  if (options.budget != kUnlimited) {
    base::raise<ValueError>(
        "lower: what a .budget leaves for the arena is known only where the "
        "step runs; give an .arena_limit, or prepare() a compiled step (also "
        "in a dry run)");
  }
  Lowered out;
  out.program = trace_for(step, GivenArguments{arguments}, options, site);
  std::optional<PlanBook> plans;
  if (!options.plan.file.empty()) {
    plans.emplace(options);
    out.program = plans->planned(out.program, {.bytes = options.arena_limit});
  } else if (options.arena_limit == kUnlimited) {
    run_passes(out.program, options.passes);
  } else {
    CompileOptions known = options;
    out.program =
        fitted(out.program, known, {.bytes = options.arena_limit}).program;
  }
  threads::Executor& executor = tensor::executor();
  bind(out.program, executor);
  out.plan = plan(out.program, executor.threads(), options.debug,
                  options.planner, options.paged);
  if (plans) {
    plans->note_arena(out.plan.space().bytes);
    plans->write();
  }
  out.prediction = predict(out.program, out.plan);
  return out;
}

}  // namespace neap::compiler
