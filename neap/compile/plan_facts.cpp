// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/plan_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "neap/compile/orders.hpp"

namespace neap::compiler {
namespace {

std::int64_t bits_of(const Debug& debug) {
  return (debug.poison ? 1 : 0) | (debug.guards ? 2 : 0) |
         (debug.no_reuse ? 4 : 0) | (debug.scatter ? 8 : 0);
}

// The name that users know the fact by.
std::string_view name_of(PlanFact fact) {
  switch (fact) {
    case PlanFact::kRunBudget:
    case PlanFact::kBudget:
      return "budget";
    case PlanFact::kArenaLimit:
      return "arena limit";
    case PlanFact::kSpills:
      return "spilling";
    case PlanFact::kWriteRate:
    case PlanFact::kFetchRate:
      return "spill rate";
    case PlanFact::kMostWritten:
      return "most written";
    case PlanFact::kMostWrittenADay:
      return "most written a day";
    case PlanFact::kLeastSpilled:
      return "least spilled";
    case PlanFact::kPart:
      return "part of a state";
    case PlanFact::kStates:
      return "optimizer state in a file";
    case PlanFact::kWeights:
      return "weights in a file";
    case PlanFact::kRecompute:
      return "recomputation";
    case PlanFact::kPaged:
      return "paging";
    case PlanFact::kPasses:
      return "choice of passes";
    case PlanFact::kPieces:
      return "number of pieces";
    case PlanFact::kMicroBatches:
      return "number of micro-batches";
    case PlanFact::kTimePieces:
      return "number of pieces of time";
    case PlanFact::kShards:
      return "number of shards";
    case PlanFact::kDebug:
      return "debug mode";
    case PlanFact::kPlannerWork:
      return "planner's work";
    case PlanFact::kGoodEnough:
      return "planner's aim";
    case PlanFact::kThreads:
      return "number of threads";
  }
  return "option";
}

std::string shown(PlanFact fact, std::int64_t value) {
  switch (fact) {
    case PlanFact::kRunBudget:
    case PlanFact::kBudget:
    case PlanFact::kArenaLimit:
    case PlanFact::kMostWritten:
    case PlanFact::kMostWrittenADay:
    case PlanFact::kLeastSpilled:
    case PlanFact::kPart:
      return value == kUnlimited ? "none" : format_bytes_short(value);
    case PlanFact::kWriteRate:
    case PlanFact::kFetchRate:
      return value == 0 ? "measured" : format_bytes_short(value);
    case PlanFact::kSpills:
    case PlanFact::kStates:
    case PlanFact::kWeights:
    case PlanFact::kRecompute:
    case PlanFact::kPaged:
      return value == 0 ? "off" : "on";
    default:
      return fmt::format("{}", value);
  }
}

}  // namespace

PlanFacts facts_of(const CompileOptions& o) {
  PlanFacts facts{};
  const auto set = [&](PlanFact fact, std::int64_t value) {
    facts[static_cast<std::size_t>(fact)] = value;
  };
  const bool spills = !o.spill.folder.empty();
  set(PlanFact::kRunBudget, o.plan.run_budget);
  set(PlanFact::kBudget, o.budget);
  set(PlanFact::kArenaLimit, o.arena_limit);
  set(PlanFact::kSpills, spills ? 1 : 0);
  set(PlanFact::kWriteRate, spills ? o.spill.write_rate : 0);
  set(PlanFact::kFetchRate, spills ? o.spill.fetch_rate : 0);
  set(PlanFact::kMostWritten, spills ? o.spill.most_written : 0);
  set(PlanFact::kMostWrittenADay, spills ? o.spill.most_written_a_day : 0);
  set(PlanFact::kLeastSpilled, spills ? o.spill.least : 0);
  set(PlanFact::kPart, spills ? o.spill.part : 0);
  set(PlanFact::kStates, spills && o.spill.states ? 1 : 0);
  set(PlanFact::kWeights, spills && o.spill.weights ? 1 : 0);
  set(PlanFact::kRecompute, o.recompute ? 1 : 0);
  set(PlanFact::kPaged, o.paged ? 1 : 0);
  set(PlanFact::kPasses, compiler::bits_of(o.passes));
  set(PlanFact::kPieces, o.passes.pieces);
  set(PlanFact::kMicroBatches, o.passes.micro_batches);
  set(PlanFact::kTimePieces, o.passes.time_pieces);
  set(PlanFact::kShards, o.shards);
  set(PlanFact::kDebug, bits_of(o.debug));
  set(PlanFact::kPlannerWork, o.planner.work);
  set(PlanFact::kGoodEnough, o.planner.good_enough);
  return facts;
}

std::string difference(const PlanFacts& there, const PlanFacts& here) {
  const auto [a, b] = std::ranges::mismatch(there, here);
  if (a == there.end()) {
    return "";
  }
  const auto fact = static_cast<PlanFact>(a - there.begin());
  const std::string was = shown(fact, *a);
  std::string is = shown(fact, *b);
  if (was == is) {  // they are sizes, and rounded
    is = fmt::format("{} {}", format_bytes_short(*a < *b ? *b - *a : *a - *b),
                     *a < *b ? "more" : "less");
  }
  return fmt::format("{} was {}, is {}", name_of(fact), was, is);
}

}  // namespace neap::compiler
