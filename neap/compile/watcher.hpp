// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// StepWatcher: is told which programs compiled steps plan and run, for reports
// on a program that does not know of them. There is one for the whole process,
// or none; then a call of a step reads one pointer for it.
#pragma once

#include <cstdint>
#include <string_view>

#include "neap/compile/plan.hpp"

namespace neap::compiler {

/// Called by whatever thread calls a step, in its context.
class NEAP_API StepWatcher {
 public:
  /// A call of a step begins, or its preparation, and has ended, also by an
  /// exception. Between the two it may trace, which references to its tensors
  /// from elsewhere disturb.
  virtual void begin() noexcept = 0;
  virtual void end() noexcept = 0;
  /// A program that was prepared, or has run for the first time.
  virtual void planned(const Program& program, const Plan& plan) noexcept = 0;
  /// A whole call, in nanoseconds, that did not throw.
  virtual void ran(const Program& program, std::int64_t ns) noexcept = 0;
  /// There was no plan for a step, by a sentence: its budget or the memory for
  /// its arena is too small (PlanError).
  virtual void refused(std::string_view why) noexcept = 0;

 protected:
  StepWatcher() = default;
  StepWatcher(const StepWatcher&) = default;
  StepWatcher& operator=(const StepWatcher&) = default;
  ~StepWatcher() = default;
};

/// Exchanges the watcher; nullptr: none. LIFETIME: until all calls of steps
/// that run now have ended, after the next exchange.
NEAP_API void watch_steps(StepWatcher* watcher) noexcept;
StepWatcher* step_watcher() noexcept;

}  // namespace neap::compiler
