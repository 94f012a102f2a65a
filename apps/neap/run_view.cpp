// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "run_view.hpp"

#include "neap/files/door.hpp"
#include "neap/memory/context.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/profile_table.hpp"
#include "neap/report/snapshot_profile.hpp"

namespace neap::app {

void RunView::note_plan(const train::Trainer& trainer) {
  if (!has_views(settings_) && !settings_.profile) {
    return;
  }
  if (settings_.budget != kUnlimited && !is_within_view(trainer.program())) {
    failure_ = Failure{
        FailureKind::kTooLarge,
        "--page, --snapshot, --trace, --profile: the plan is too large to be "
        "shown by a run within a budget; leave them to neap plan"};
    return;
  }
  view_.emplace(view_of(settings_, trainer.program(), trainer.plan(), domain_));
  const memory::UseDomain use(report::report_domain());
  steps_.emplace();
  write();
}

void RunView::note_step(const train::StepReport& report) {
  if (view_) {
    const memory::Stats stats = domain_.stats();
    steps_->add({.live = stats.live,
                 .held = stats.held,
                 .ns = static_cast<std::int64_t>(report.seconds * 1e9)});
  }
}

void RunView::note_end() {
  if (view_) {
    view_->steps = steps_->kept();
    view_->sums.step_kind = report::Snapshot::StepKind::kRun;
  }
  if (view_ && profile_.runs > 0) {
    // The limits of the machine are measured with memory that a budget has not.
    profile_.limits = settings_.budget == kUnlimited ? report::measure_limits()
                                                     : report::MachineLimits();
    report::add_times(*view_, profile_);
  }
}

void RunView::finish() {
  if (view_) {
    const memory::Stats stats = domain_.stats();
    view_->sums.held_at_most = stats.peak;
    view_->sums.external = stats.external;
  }
  write();
}

void RunView::refuse(std::string_view why) {
  if (view_) {
    const memory::UseDomain use(report::report_domain());
    view_->steps = steps_->kept();
    view_->refusals.emplace_back(why);
  }
  finish();
}

std::string RunView::profile_text() const {
  if (!settings_.profile || !view_) {
    return {};
  }
  const memory::String table = report::profile_table(*view_);
  return table.empty() ? "no times: the run has fewer than two steps\n"
                       : std::string(table);
}

void RunView::write() {
  if (!view_ || !has_views(settings_)) {
    return;
  }
  if (auto done = write_views(files::system_door(), settings_, *view_); !done) {
    failure_ = std::move(done.error());
  }
}

}  // namespace neap::app
