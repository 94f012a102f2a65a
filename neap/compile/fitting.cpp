// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/fitting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "neap/base/bytes.hpp"
#include "neap/base/raise.hpp"
#include "neap/compile/channel.hpp"
#include "neap/compile/orders.hpp"

namespace neap::compiler {
namespace {

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

[[noreturn]] void refuse(const Program& traced, const CompileOptions& options,
                         const HeadPieces& pieces, const ArenaLimit& limit,
                         const std::optional<budget::Channel>& channel) {
  Bytes least = kUnlimited;
  Widest widest;
  for (const Passes& passes : candidate_passes(options.passes, pieces)) {
    const Ordered ordered(traced, options, passes, channel);
    const Bytes some = ordered.least();
    if (some < least || widest.bytes == 0) {
      least = some;
      widest = ordered.widest();
    }
  }
  base::raise<PlanError>(
      "compile: the step does not fit into {}; {} alone needs {}",
      why_not(limit, least), widest.call, format_bytes(widest.bytes));
}

// Heads in the fewest pieces with which it fits, no call running again.
std::optional<Candidate> in_pieces(const Program& traced,
                                   const CompileOptions& options,
                                   const HeadPieces& pieces, Bytes limit) {
  Passes passes = options.passes;
  for (const std::uint32_t count : pieces.kept) {
    passes.pieces = count;
    Candidate found = all_kept(traced, options, passes);
    if (found.arena <= limit) {
      return found;
    }
  }
  return std::nullopt;
}

}  // namespace

std::string ways_of(const Fitting& fitting) {
  std::string ways;
  if (fitting.pieces != 0) {
    ways = fmt::format("cross_entropy in {} pieces", fitting.pieces);
  }
  if (fitting.again != 0) {
    ways += fmt::format("{}{} calls run again", ways.empty() ? "" : ", ",
                        fitting.again);
  }
  if (fitting.spilled != 0) {
    ways += fmt::format("{}{} values spilled, {} written a step",
                        ways.empty() ? "" : ", ", fitting.spilled,
                        format_bytes_short(fitting.written));
  }
  return ways.empty() ? "all values kept" : ways;
}

Program fitted(const Program& traced, CompileOptions& options,
               const ArenaLimit& limit) {
  Candidate whole = all_kept(traced, options, options.passes);
  if (whole.arena <= limit.bytes) {
    whole.program.fitting.limit = limit.bytes;
    return std::move(whole.program);
  }
  const HeadPieces pieces = head_pieces(traced, options.passes, whole.arena);
  options.spill = with_rates(options.spill);
  const std::optional<budget::Channel> channel = channel_of(options.spill);
  std::optional<Candidate> best =
      in_pieces(traced, options, pieces, limit.bytes);
  for (const Passes& passes : candidate_passes(options.passes, pieces)) {
    const Ordered ordered(traced, options, passes, channel);
    if (best && best->price <= ordered.price()) {
      continue;
    }
    std::optional<Candidate> found = ordered.best(limit.bytes);
    if (found && (!best || found->price < best->price)) {
      best = std::move(found);
    }
  }
  if (!best) {
    refuse(traced, options, pieces, limit, channel);
  }
  best->program.fitting = fitting_of(*best, whole.price, limit.bytes);
  return std::move(best->program);
}

}  // namespace neap::compiler
