// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "state_search.hpp"

#include <algorithm>
#include <utility>

#include "neap/base/error.hpp"

namespace neap::app {
namespace {

constexpr int kExactRounds = 8;
constexpr int kMostRounds = 2 * kExactRounds;

bool is_better(const Rehearsal& now, const WithinBudget& out) {
  return !out.is_met() || now.fitting.extra < out.rehearsal.fitting.extra;
}

// With weights that are made in memory, or in the file.
Result<void> try_states_with(const TrainSettings& settings, bool born_away,
                             WithinBudget& out) {
  TrainSettings limited = settings;
  limited.step_budget = settings.budget;
  limited.born_away = born_away;
  Bytes lacked = 0;
  for (int round = 0; round < kMostRounds && limited.step_budget > 0; ++round) {
    Rehearsal now;
    Result<Bytes> lacks = 0;
    try {
      lacks = lacking(limited, now);
    } catch (const PlanError&) {
      return {};  // what was found before stands
    }
    if (!lacks) {
      return tl::unexpected(lacks.error());
    }
    if (*lacks <= 0) {
      if (is_better(now, out)) {
        out.step_budget = limited.step_budget;
        out.arena_limit = kUnlimited;
        out.born_away = born_away;
        out.rehearsal = std::move(now);
        out.why_not.clear();
      }
      return {};
    }
    // 1: a page was what was too much, whatever it was asked for.
    if (std::exchange(lacked, *lacks) == *lacks && *lacks > 1 &&
        now.peak == 0) {
      return {};  // it was refused before the step was made, as the model is
    }
    // Memory beside the step (of a save) is asked for after its plan, and is
    // the same for all plans: none that needs more than this fits. Where it
    // is asked for in many parts, so many rounds would take too long.
    const Bytes least = round < kExactRounds
                            ? 0
                            : settings.budget / 1024 << (round - kExactRounds);
    limited.step_budget -= std::max(*lacks, least);
  }
  return {};
}

}  // namespace

bool keeps_in_memory(const TrainSettings& settings) {
  return settings.ema.has_value() || settings.eval_steps > 0;
}

Result<void> try_states(const TrainSettings& settings, WithinBudget& out) {
  if (settings.spill.empty() || keeps_in_memory(settings) ||
      (out.is_met() && out.rehearsal.fitting.extra == 0)) {
    return {};
  }
  auto done = try_states_with(settings, false, out);
  return done ? try_states_with(settings, true, out) : done;
}

}  // namespace neap::app
