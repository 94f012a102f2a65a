// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/fitting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "neap/base/bytes.hpp"
#include "neap/base/raise.hpp"
#include "neap/compile/channel.hpp"
#include "neap/compile/costs.hpp"
#include "neap/compile/orders.hpp"
#include "neap/program/print.hpp"
#include "neap/program/scheduling.hpp"
#include "neap/tensor/execution.hpp"

namespace neap::compiler {
namespace {

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
                         const CompileOptions& options, const ArenaLimit& limit,
                         const std::optional<budget::Channel>& channel) {
  Bytes least = kUnlimited;
  for (const Passes& passes : candidate_passes(options.passes)) {
    least = std::min(least, Ordered(traced, options, passes, channel).least());
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
  Candidate whole = all_kept(traced, options);
  if (whole.arena <= limit.bytes) {
    whole.program.fitting.limit = limit.bytes;
    return std::move(whole.program);
  }
  const std::optional<budget::Channel> channel = channel_of(options.spill);
  std::optional<Candidate> best;
  for (const Passes& passes : candidate_passes(options.passes)) {
    std::optional<Candidate> found =
        Ordered(traced, options, passes, channel).best(limit.bytes);
    if (found && (!best || found->price < best->price)) {
      best = std::move(found);
    }
  }
  if (!best) {
    refuse(traced, whole.program, options, limit, channel);
  }
  best->program.fitting = fitting_of(*best, whole.price, limit.bytes);
  return std::move(best->program);
}

}  // namespace neap::compiler
