// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/fitting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <utility>

#include "neap/base/bytes.hpp"
#include "neap/base/raise.hpp"
#include "neap/budget/bound.hpp"
#include "neap/budget/evaluate.hpp"
#include "neap/budget/ladder.hpp"
#include "neap/compile/costs.hpp"
#include "neap/compile/plan.hpp"
#include "neap/program/bind.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/print.hpp"
#include "neap/program/scheduling.hpp"
#include "neap/program/verify.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

constexpr std::int32_t kRungStep = 2;  // 2^(-1/16) from one to the next
// Calls that the walks of one rung visit, about.
constexpr std::int64_t kEffort = 100'000;
constexpr std::int64_t kLeastWalks = 60;  // all rankings, and some more
constexpr std::int64_t kMostWalks = 400;

struct Candidate {
  Program program;
  Bytes arena = 0;
  std::int64_t price = 0;  // of a run, and below what none in this order costs
  std::int64_t bound = 0;
};

std::int64_t sum_of(const memory::Vector<std::int64_t>& prices) {
  return std::accumulate(prices.begin(), prices.end(), std::int64_t{0});
}

// One order of the calls, and its schedules.
class Ordered {
 public:
  Ordered(const Program& traced, const CompileOptions& options,
          const Passes& passes)
      : options_(options), passes_(passes), program_(traced.copy()) {
    run_order_passes(program_, passes_);
    bind(program_, tensor::executor());
    const memory::Vector<std::int64_t> prices = prices_of(program_);
    price_ = sum_of(prices);
    problem_ = scheduling_problem(program_, prices);
  }

  /// The cheapest within the limit, where there is one.
  std::optional<Candidate> best(Bytes limit) {
    auto rungs = budget::ladder(
        problem_,
        {.search = effort(), .step = kRungStep, .most = limit + limit / 16});
    for (auto rung = rungs.rbegin(); rung != rungs.rend(); ++rung) {
      Candidate found = packed(rung->found);
      if (found.arena <= limit) {
        found.bound =
            price_ + budget::lower_bound(problem_, rung->target).price;
        return found;
      }
    }
    return std::nullopt;
  }

  /// The least arena that a schedule is found for.
  Bytes least() {
    const auto rungs = budget::ladder(
        problem_, {.search = effort(), .step = kRungStep, .lowest_only = true});
    return rungs.empty() ? kUnlimited : packed(rungs.front().found).arena;
  }

 private:
  budget::SearchOptions effort() const {
    const auto count = static_cast<std::int64_t>(program_.calls.size());
    return {.walks = std::clamp(kEffort / std::max<std::int64_t>(count, 1),
                                kLeastWalks, kMostWalks)};
  }

  Candidate packed(const budget::Found& found) {
    const budget::Evaluation checked =
        budget::evaluate(problem_, found.schedule);
    if (!checked.is_good()) {
      base::raise<InternalError>("compile: a schedule is wrong, {} at run {}",
                                 budget::name_of(checked.fault), checked.run);
    }
    Candidate out;
    out.program = program_.copy();
    materialise(out.program, found.schedule);
    run_memory_passes(out.program, passes_);
    verify(out.program, "after materialise");
    bind(out.program, tensor::executor());
    out.arena = plan(out.program, tensor::executor().threads(), options_.debug,
                     options_.planner, options_.paged)
                    .space()
                    .bytes;
    out.price = price_ + found.price;
    out.program.fitting.again = static_cast<std::uint32_t>(
        found.schedule.runs.size() - problem_.calls.size());
    return out;
  }

  const CompileOptions& options_;
  Passes passes_;
  Program program_;
  std::int64_t price_ = 0;
  budget::Problem problem_;
};

// The call that needs most memory at once: what it reads, makes and works in.
struct Widest {
  std::uint32_t call = 0;
  std::int64_t bytes = 0;
};

Widest widest_of(const budget::Problem& problem) {
  Widest widest;
  for (std::uint32_t i = 0; i < problem.calls.size(); ++i) {
    const budget::Call& call = problem.calls[i];
    std::int64_t bytes = call.scratch;
    for (const auto* list : {&call.reads, &call.makes}) {
      for (const std::int32_t v : *list) {
        bytes += problem.values[static_cast<std::size_t>(v)].size;
      }
    }
    if (bytes > widest.bytes) {
      widest = {i, bytes};
    }
  }
  return widest;
}

// With and without what makes calls wide, or values long-lived.
memory::Vector<Passes> candidates(const Passes& passes) {
  memory::Vector<Passes> out;
  for (const bool fuse : {true, false}) {
    for (const bool reorder : {true, false}) {
      Passes some = passes;
      some.copy_again = false;  // schedules do the same
      some.fuse = fuse && passes.fuse;
      some.reorder = reorder && passes.reorder;
      if (std::ranges::find(out, some) == out.end()) {
        out.push_back(some);
      }
    }
  }
  return out;
}

// What does not suffice, and what would.
std::string why_not(const ArenaLimit& limit, Bytes least) {
  if (limit.budget == kUnlimited) {
    return fmt::format(
        "an arena of {}: the least that a plan was found for is {}",
        format_bytes(limit.bytes), format_bytes(least));
  }
  return fmt::format(
      "a budget of {}: it leaves {} for the arena, and the least that a plan "
      "was found for is {}; give about {}",
      format_bytes(limit.budget), format_bytes(limit.bytes),
      format_bytes(least), format_bytes(limit.budget - limit.bytes + least));
}

[[noreturn]] void refuse(const Program& traced, const Program& whole,
                         const CompileOptions& options,
                         const ArenaLimit& limit) {
  Bytes least = kUnlimited;
  for (const Passes& passes : candidates(options.passes)) {
    least = std::min(least, Ordered(traced, options, passes).least());
  }
  const Widest widest = widest_of(scheduling_problem(whole, prices_of(whole)));
  const Call& call = whole.calls[widest.call];
  const std::string_view layer = owner_path(whole, call.owner);
  base::raise<PlanError>(
      "compile: the step does not fit into {}; {} {} {} alone needs {}",
      why_not(limit, least), call.name, layer.empty() ? "at" : "of",
      layer.empty() ? base::format_site(call.site) : std::string(layer),
      format_bytes(widest.bytes));
}

}  // namespace

Program fitted(const Program& traced, const CompileOptions& options,
               const ArenaLimit& limit) {
  Program whole = traced.copy();
  run_passes(whole, options.passes);
  threads::Executor& executor = tensor::executor();
  bind(whole, executor);
  const Bytes arena = plan(whole, executor.threads(), options.debug,
                           options.planner, options.paged)
                          .space()
                          .bytes;
  const std::int64_t price = sum_of(prices_of(whole));
  if (arena <= limit.bytes) {
    whole.fitting = {.limit = limit.bytes, .price = price};
    return whole;
  }
  std::optional<Candidate> best;
  for (const Passes& passes : candidates(options.passes)) {
    std::optional<Candidate> found =
        Ordered(traced, options, passes).best(limit.bytes);
    if (found && (!best || found->price < best->price)) {
      best = std::move(found);
    }
  }
  if (!best) {
    refuse(traced, whole, options, limit);
  }
  Fitting& fitting = best->program.fitting;
  fitting.limit = limit.bytes;
  fitting.price = price;
  fitting.extra = std::max<std::int64_t>(best->price - price, 0);
  fitting.bound = std::max<std::int64_t>(best->bound - price, 0);
  return std::move(best->program);
}

}  // namespace neap::compiler
