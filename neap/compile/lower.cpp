// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/lower.hpp"

#include <algorithm>
#include <optional>

#include "neap/base/raise.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/compile/joined.hpp"
#include "neap/compile/plan_book.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/rank_cut.hpp"
#include "neap/program/rank_updates.hpp"
#include "neap/program/ranks.hpp"
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

void check_shares(const Program& program, const CompileOptions& options) {
  const std::int64_t rows = rows_of_batch(program);
  if (rows < options.shards) {
    base::raise<ValueError>(
        "compile: a batch of {} rows for {} .shards on {} ranks; each shard "
        "needs a row: drop the last batch, or take fewer shards",
        rows, options.shards, options.ranks->count());
  }
}

}  // namespace

Program trace_of_all(Step step, const GivenArguments& given,
                     const CallSite& site) {
  if (given.rows_of_all == 0) {
    return trace(step, given, site);
  }
  const std::int64_t own = own_rows(given.specs);
  memory::Vector<tensor::Spec> specs(given.specs.begin(), given.specs.end());
  for (std::size_t i = 0; i < specs.size(); ++i) {
    Shape& shape = specs[i].shape;
    if (shape.rank() == 0 || shape[0] != own) {
      continue;
    }
    if (i < given.tensors.size() && !given.tensors[i].is_contiguous()) {
      base::raise<ValueError>(
          "compile: argument {} of the batch, {}, is a view with gaps, and "
          "ranks share out the batch; pass contiguous() of it",
          i, format_shape(shape));
    }
    shape[0] = given.rows_of_all;
  }
  GivenArguments all = given;
  all.specs = specs;
  return trace(step, all, site);
}

Program trace_for(Step step, const GivenArguments& given,
                  const CompileOptions& options, const CallSite& site) {
  GivenArguments late = given;  // a plan may keep state away from the start
  late.is_state_late = options.budget != kUnlimited && options.spill.states &&
                       !options.spill.folder.empty();
  Program program = trace_of_all(step, late, site);
  if (has_other_ranks(options)) {
    program.ranks = options.ranks;
    check_shares(program, options);
  }
  if (options.verify > 0) {
    program.trail = trail_of(program);
  }
  if (options.shards > 1) {
    check_batch(program, options.shards);
    std::uint64_t digest = 0;
    if (program.ranks != nullptr) {
      digest = step_digest(program);
      mark_compared(program);
    }
    cut_into_shards(program, rows_of_batch(program),
                    static_cast<std::uint32_t>(options.shards));
    program.sharding.digest = digest;
  }
  if (share_out_updates(program) && !options.spill.folder.empty()) {
    base::raise<ValueError>(
        "compile: ranks share out the optimizer's state, which does not go "
        "with a .spill.folder; leave one of them out");
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
  check_ranks(options);
  GivenArguments given{arguments};
  if (has_other_ranks(options)) {
    given.rows_of_all = options.ranks->rows_of_batch(own_rows(arguments),
                                                     options.shards, "plan");
  }
  out.program = trace_for(step, given, options, site);
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
