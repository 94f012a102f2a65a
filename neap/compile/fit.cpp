// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/fit.hpp"

#include <algorithm>
#include <utility>

#include "neap/compile/channel.hpp"
#include "neap/compile/lower.hpp"
#include "neap/compile/orders.hpp"

namespace neap::compiler {
namespace {

// Keeps the points that are cheaper than every smaller arena, arenas falling.
void keep_best(FitCurve& points) {
  std::ranges::sort(points, [](const FitPoint& a, const FitPoint& b) {
    return std::pair(a.arena, a.fitting.extra) <
           std::pair(b.arena, b.fitting.extra);
  });
  std::int64_t cheapest = std::numeric_limits<std::int64_t>::max();
  std::erase_if(points, [&](const FitPoint& point) {
    const bool is_better = point.fitting.extra < cheapest;
    cheapest = std::min(cheapest, point.fitting.extra);
    return !is_better;
  });
  std::ranges::reverse(points);
}

}  // namespace

FitCurve fit_curve(const Program& traced, const CompileOptions& options) {
  const Candidate whole = all_kept(traced, options, options.passes);
  const std::optional<budget::Channel> channel =
      channel_of(options.spill, whole.price);
  const Cuts cuts = cuts_of(traced, options, whole.arena);
  const Bytes limit = std::min(options.arena_limit, whole.arena - 1);
  FitCurve points;
  const auto add = [&](const Candidate& found) {
    points.push_back(
        {found.arena, fitting_of(found, whole.price, found.arena)});
  };
  for (const Passes& passes : cuts.kept(options.passes)) {
    const Candidate found = all_kept(traced, options, passes);
    if (found.arena <= limit) {
      add(found);
    }
  }
  const auto all = [](std::size_t) { return kUnlimited; };
  for (const Passes& passes : candidate_passes(options.passes, cuts, all)) {
    Ordered(traced, options, passes, channel).for_each_within(limit, add);
  }
  if (options.costs) {
    options.costs->save();
  }
  keep_best(points);
  points.insert(points.begin(), {whole.arena, whole.program.fitting});
  return points;
}

FitCurve fit_step(Step step, std::span<const tensor::Spec> arguments,
                  const CompileOptions& options, const CallSite& site) {
  return fit_curve(trace_for(step, GivenArguments{arguments}, options, site),
                   options);
}

}  // namespace neap::compiler
