// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/exit_report.hpp"

#include <utility>

#include "neap/base/append.hpp"
#include "neap/report/ledger_rows.hpp"
#include "neap/report/snapshot_domain.hpp"
#include "neap/report/snapshot_step.hpp"

namespace neap::report {

ExitReport::ExitReport(const memory::Domain& domain, std::string_view name)
    : domain_(&domain),
      before_(domain),
      name_(name),
      growth_(std::in_place, domain),
      peak_(domain) {}

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
    shown_in_ = &domain;
  } catch (...) {  // no memory for it: the one before stays
  }
}

void ExitReport::ran(const compiler::Program& program,
                     std::int64_t ns) noexcept {
  const memory::Domain& domain = memory::domain();
  if (domain.is_rehearsal()) {
    return;
  }
  try {
    const memory::UseDomain use(report_domain());
    const std::lock_guard lock(mutex_);
    if (is_over_) {
      return;
    }
    static_cast<void>(take_kind(StepKind::kRun));
    add_step(domain, ns);
    if (&program == shown_) {  // two kinds of steps would seem to shrink
      growth_->step();
    }
  } catch (...) {  // a step that is not compared
  }
}

// Whether steps are of this kind. One that says more takes the place of
// another.
bool ExitReport::take_kind(StepKind kind) {
  if (kind > kind_) {
    kind_ = kind;
    mark_ = LoopMark();
    start_again();
  }
  return kind == kind_;
}

void ExitReport::start_again() {
  growth_.emplace(*domain_);
  steps_ = StepLog();
}

void ExitReport::updated(const void* optimizer) noexcept {
  ended(StepKind::kUpdate, optimizer);
}

void ExitReport::called(const void* module) noexcept {
  ended(StepKind::kCall, module);
}

void ExitReport::ended(StepKind kind, const void* who) noexcept {
  const memory::Domain& domain = memory::domain();
  if (domain.is_rehearsal()) {
    return;
  }
  try {
    const memory::UseDomain use(report_domain());
    const std::lock_guard lock(mutex_);
    if (is_over_ || running_ != 0 || !take_kind(kind)) {
      return;
    }
    const LoopMark::Event event = mark_.next(who);
    if (event == LoopMark::Event::kInside) {
      return;
    }
    if (event == LoopMark::Event::kOther) {
      start_again();
    }
    add_step(domain, -1);
    growth_->step();
  } catch (...) {  // a step that is not compared
  }
}

void ExitReport::add_step(const memory::Domain& domain, std::int64_t ns) {
  const memory::Stats stats = domain.stats();
  steps_.add({.live = stats.live,
              .held = stats.held,
              .ns = ns,
              .peak = &domain == domain_ ? peak_.next() : -1});
}

void ExitReport::refused(std::string_view why) noexcept {
  constexpr std::size_t kMost = 64;
  if (memory::domain().is_rehearsal()) {
    return;
  }
  try {
    const memory::UseDomain use(report_domain());
    const std::lock_guard lock(mutex_);
    // A step that is a part of another is refused with it.
    if (is_over_ || (!refused_.empty() && refused_.back() == why)) {
      return;
    }
    if (refused_.size() == kMost) {
      refused_.erase(refused_.begin());
    }
    refused_.emplace_back(why);
  } catch (...) {  // no memory for a sentence
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
  static_cast<void>(peak_.next());
  out.refusals.clear();  // a log forgets what was long ago
  for (const memory::Event& event : peak_.refusals()) {
    out.refusals.push_back(refusal_text(*domain_, event));
  }
  out.refusals.insert(out.refusals.end(), refused_.begin(), refused_.end());
  out.steps = steps_.kept();
  out.sums.compared = growth_->compared();
  out.sums.step_kind = kind_;
  if (shown_in_ == domain_) {
    out.sums.held_at_most = domain_->stats().peak;
  }
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
  std::string growth = growth_->compared() >= Growth::kEnough
                           ? growth_->format()
                           : std::string();
  if (!growth.empty()) {
    growth.pop_back();
    snapshot.leaks.emplace_back(growth);
  }
}

}  // namespace neap::report
