// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/exit_report.hpp"

#include <utility>

#include "neap/base/append.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/snapshot_domain.hpp"
#include "neap/report/snapshot_step.hpp"

namespace neap::report {

ExitReport::ExitReport(const memory::Domain& domain, std::string_view name)
    : domain_(&domain), before_(domain), name_(name), growth_(domain) {}

void ExitReport::begin() noexcept {
  const std::lock_guard lock(mutex_);
  ++running_;
}

void ExitReport::end() noexcept {
  const std::lock_guard lock(mutex_);
  --running_;
}

// A rehearsal is a part of planning: its steps are no run's.
void ExitReport::planned(const compiler::Program& program,
                         const compiler::Plan& plan) noexcept {
  memory::Domain& domain = memory::domain();
  const Bytes arena = plan.arena_bytes();
  if (domain.is_rehearsal()) {
    return;
  }
  try {
    const memory::UseDomain use(report_domain());
    const std::lock_guard lock(mutex_);
    if (is_over_ || arena < arena_) {
      return;
    }
    step_ = snapshot(program, plan, &domain);
    arena_ = arena;
    shown_ = &program;
  } catch (...) {  // no memory for it: the one before stays
  }
}

void ExitReport::ran(const compiler::Program& program,
                     std::int64_t ns) noexcept {
  const memory::Domain& domain = memory::domain();
  if (domain.is_rehearsal()) {
    return;
  }
  const memory::Stats stats = domain.stats();
  try {
    const memory::UseDomain use(report_domain());
    const std::lock_guard lock(mutex_);
    if (is_over_) {
      return;
    }
    steps_.add({.live = stats.live, .held = stats.held, .ns = ns});
    if (&program == shown_) {  // two kinds of steps would seem to shrink
      growth_.step();
    }
  } catch (...) {  // a step that is not compared
  }
}

Snapshot ExitReport::finish() {
  const memory::UseDomain use(report_domain());
  const std::lock_guard lock(mutex_);
  is_over_ = true;
  Snapshot out = step_ ? std::move(*step_) : snapshot(*domain_);
  step_.reset();
  memory::String title = name_;
  if (!out.title.empty()) {
    title += title.empty() ? "" : ", ";
    title += out.title;
  }
  out.title = std::move(title);
  if (!out.is_eager) {
    out.refusals = refusals_of(*domain_);
  }
  out.steps = steps_.kept();
  add_leaks(out);
  return out;
}

// Each row of the report, with the lines under it, is a text of its own.
void ExitReport::add_leaks(Snapshot& snapshot) {
  const bool is_quiet = running_ == 0;
  if (!is_quiet) {
    tracking_.reset();  // what grew has no holders either
  }
  const std::string text = is_quiet ? report_leaks(before_) : before_.format();
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::size_t next = rest.find("\nleak: ");
    const std::size_t size =
        next == std::string_view::npos ? rest.size() : next + 1;
    memory::String& leak = snapshot.leaks.emplace_back(rest.substr(0, size));
    leak.pop_back();  // its line end
    rest.remove_prefix(size);
  }
  std::string growth = growth_.format();
  if (!growth.empty()) {
    growth.pop_back();
    snapshot.leaks.emplace_back(growth);
  }
}

}  // namespace neap::report
