// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "plan_view.hpp"

#include "kept_plan.hpp"
#include "neap/files/door.hpp"
#include "neap/memory/context.hpp"
#include "neap/report/ledger_rows.hpp"
#include "view_files.hpp"

namespace neap::app {

ExitCode show_plan(const TrainSettings& settings, const WithinBudget& found,
                   std::string_view refusal) {
  if (!has_views(settings)) {
    return ExitCode::kOk;
  }
  auto view = rehearsed_view(planned(settings, found), settings.batch);
  if (!view) {
    return fail(ExitCode::kData, view.error().message);
  }
  const memory::UseDomain use(report::report_domain());
  // The figures that the plan's text has.
  const Rehearsal& told = found.is_met() ? found.rehearsal : found.all_kept;
  view->sums.held_at_most = told.peak;
  view->sums.external = told.external;
  if (!refusal.empty()) {
    view->refusals.emplace_back(refusal);
  }
  const auto written = write_views(files::system_door(), settings, *view);
  return written ? ExitCode::kOk
                 : fail(ExitCode::kOutput, written.error().message);
}

ExitCode refuse_and_show(const TrainSettings& settings,
                         const WithinBudget& found,
                         std::optional<std::int64_t> max_batch) {
  const std::string refusal = refusal_of(settings, found, max_batch);
  write_failure(refusal);
  static_cast<void>(show_plan(settings, found, refusal));
  return ExitCode::kMemory;
}

}  // namespace neap::app
