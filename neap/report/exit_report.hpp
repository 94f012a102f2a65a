// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// ExitReport: what a program is found to have done with its memory, from its
// start to its end, without a line of its own for it (at_exit.hpp).
//
// Thread rule: steps may run in any threads, also while the report is written;
// what they do then is no longer in it. All memory is of the reports' domain.
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "neap/compile/watcher.hpp"
#include "neap/graph/update_watch.hpp"
#include "neap/memory/scope_member.hpp"
#include "neap/report/domain_events.hpp"
#include "neap/report/growth.hpp"
#include "neap/report/leaks.hpp"
#include "neap/report/loop_mark.hpp"
#include "neap/report/snapshot.hpp"
#include "neap/report/step_log.hpp"

namespace neap::report {

class ExitReport final : public compiler::StepWatcher,
                         public graph::UpdateWatcher {
 public:
  /// Looks at a domain from now on. `name`: of the program. REQUIRES: within
  /// UseDomain(report_domain()). THROWS: OutOfMemory.
  ExitReport(const memory::Domain& domain, std::string_view name);

  void begin() noexcept override;
  void end() noexcept override;
  void planned(const compiler::Program& program,
               const compiler::Plan& plan) noexcept override;
  void ran(const compiler::Program& program, std::int64_t ns) noexcept override;
  void refused(std::string_view why) noexcept override;
  void updated(const void* optimizer) noexcept override;
  void called(const void* module) noexcept override;

  /// The latest of the programs that have the largest arena, or, where no step
  /// was compiled, the domain's events; with what is live in the domain now and
  /// was not at the beginning, who holds that, what grew from step to step, and
  /// the steps: calls of compiled ones, or, where none was called, from update
  /// to update of an optimizer, or, where none was called either, from call to
  /// call of a module by the program. What grew is told where enough steps were
  /// compared (Growth::kEnough). Ends the report. Steps that other threads call
  /// meanwhile wait; where one is running already, holders are left out: to
  /// hold what it holds might end its trace. THROWS: OutOfMemory.
  Snapshot finish();

 private:
  using StepKind = Snapshot::StepKind;

  bool take_kind(StepKind kind);
  void start_again();
  void ended(StepKind kind, const void* who) noexcept;
  void add_leaks(Snapshot& snapshot);
  void add_step(const memory::Domain& domain, std::int64_t ns);

  const memory::Domain* domain_;
  std::optional<memory::TrackHandles> tracking_{std::in_place};
  const Baseline before_;
  memory::String name_;

  std::mutex mutex_;  // of all below
  std::optional<Growth> growth_;
  LivePeak peak_;
  StepLog steps_;
  StepKind kind_ = StepKind::kNone;  // what they are
  LoopMark mark_;                    // unless they are runs
  memory::Vector<memory::String> refused_;
  std::optional<Snapshot> step_;
  const compiler::Program* shown_ = nullptr;  // in step_, to know it again
  const memory::Domain* shown_in_ = nullptr;  // its domain
  Bytes arena_ = -1;
  int running_ = 0;  // calls of steps
  bool is_over_ = false;
};

}  // namespace neap::report
