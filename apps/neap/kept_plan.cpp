// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "kept_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "neap/base/bytes.hpp"
#include "neap/base/shown.hpp"
#include "neap/files/door.hpp"

namespace neap::app {
namespace {

// To keep a plan takes some memory, too: as many tries with less for the rest.
constexpr int kMostRounds = 4;
constexpr Bytes kPage = 4 * kKiB;

// A plan with weights in a file may be of a run that makes them there, which no
// plan file says: it is that if it does not fit otherwise, as when it was
// found (state_search.cpp).
Result<Rehearsal> rehearse_known(const TrainSettings& settings,
                                 WithinBudget& out) {
  if (out.step_budget != kUnlimited) {
    try {
      auto known = rehearse(planned(settings, out), settings.batch);
      if (!known || fits(settings, *known)) {
        return known;
      }
      out.born_away = true;
    } catch (const OutOfMemory& error) {
      if (error.details().reason != OutOfMemory::Reason::kBudget) {
        throw;
      }
      out.born_away = true;  // there is no room for the weights
    } catch (const PlanError&) {
      out.born_away = true;  // nor for the arena beside them
    }
  }
  return rehearse(planned(settings, out), settings.batch);
}

// The file's plan, with nothing searched for.
Result<WithinBudget> by_known_plan(const TrainSettings& settings) {
  const auto all_kept = rehearse(settings, settings.batch);
  if (!all_kept) {
    return tl::unexpected(all_kept.error());
  }
  WithinBudget out{.arena_limit = *settings.plan_limit,
                   .step_budget = settings.plan_step,
                   .all_kept = *all_kept,
                   .rehearsal = *all_kept};
  auto known = rehearse_known(settings, out);
  if (!known) {
    return tl::unexpected(known.error());
  }
  if (!fits(settings, *known)) {
    return failure(
        FailureKind::kMismatch,
        fmt::format("--plan {}: {} over the budget; delete or rename it",
                    base::shown_path(settings.plan),
                    format_bytes_short(excess(settings, *known))));
  }
  out.rehearsal = std::move(*known);
  return out;
}

// A dry run that writes the file. What that takes is no part of the run, which
// reads the file.
Result<void> write_plan(const TrainSettings& settings,
                        const WithinBudget& found) {
  TrainSettings free = planned(settings, found);
  free.budget = kUnlimited;
  auto done = rehearse(free, free.batch);
  return done ? Result<void>() : tl::unexpected(done.error());
}

// Meets the budget, and writes how.
Result<WithinBudget> by_new_plan(const TrainSettings& settings) {
  TrainSettings searched = settings;
  for (int round = 0;; ++round) {
    auto found = meet_budget(searched);
    if (!found || !found->is_met()) {
      return found;
    }
    if (auto done = write_plan(settings, *found); !done) {
      return tl::unexpected(done.error());
    }
    auto run = rehearse(planned(settings, *found), settings.batch);
    if (!run) {
      return tl::unexpected(run.error());
    }
    if (fits(settings, *run)) {
      found->rehearsal = std::move(*run);
      return found;
    }
    if (auto done = files::system_door().remove(settings.plan); !done) {
      return tl::unexpected(done.error());
    }
    if (round == kMostRounds) {
      found->why_not = "to take a plan from a file needs some memory, too";
      return found;
    }
    searched.budget -=
        base::round_up(excess(settings, *run), kPage) + (kPage << round);
  }
}

}  // namespace

ExitCode open_plan(TrainSettings& settings) {
  if (const ExitCode done = open_costs(settings); done != ExitCode::kOk) {
    return done;
  }
  if (settings.plan.empty()) {
    return measure_spill(settings);
  }
  if (!settings.compile) {
    return fail(ExitCode::kUsage,
                "--plan: an eager run has no plan; leave out --eager");
  }
  if (settings.budget == kUnlimited) {
    return fail(ExitCode::kUsage,
                "--plan: give the budget that it is to meet, --budget");
  }
  const auto known = compiler::limits_of({.file = settings.plan});
  if (known) {
    settings.plan_limit = known->arena_limit;
    settings.plan_step = known->budget;
    // A file without rates is refused for that; nothing is measured for it.
    if (settings.spill_write_rate == 0 && !settings.spill.empty()) {
      settings.spill_write_rate = std::max<std::int64_t>(known->write_rate, 1);
      settings.spill_fetch_rate = std::max<std::int64_t>(known->fetch_rate, 1);
    }
  }
  return measure_spill(settings);
}

Result<WithinBudget> meet_budget_by_plan(const TrainSettings& settings) {
  if (settings.plan.empty()) {
    return meet_budget(settings);
  }
  return settings.plan_limit ? by_known_plan(settings) : by_new_plan(settings);
}

TrainSettings planned(const TrainSettings& settings,
                      const WithinBudget& found) {
  TrainSettings out = settings;
  out.arena_limit = found.arena_limit;
  out.step_budget = found.step_budget;
  out.born_away = found.born_away;
  out.plan_file = settings.plan;
  out.plan_budget = settings.budget;
  return out;
}

const char* what_became_of_plan(const TrainSettings& settings) noexcept {
  return settings.plan_limit ? "taken" : "written";
}

ExitCode refuse_plan(const PlanFileError& error) {
  constexpr std::string_view kLibrary = "compile: .";
  std::string_view what = error.what();
  if (what.starts_with(kLibrary)) {  // as users of the tool know it
    what.remove_prefix(kLibrary.size());
  }
  return fail(ExitCode::kData, fmt::format("--{}", what));
}

}  // namespace neap::app
