// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Ctrl-C (SIGINT) and SIGTERM end a run after the step in progress: the guard
// notes them, and whoever runs asks. A second one of the same kind ends the
// process at once.
#pragma once

#include <csignal>

#include "exit_code.hpp"

namespace neap::app {

class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;

  /// Whether a signal has come since the guard was made.
  static bool is_asked_to_stop() noexcept;
  /// kInterrupted or kTerminated by the signal that came; kOk: none.
  static ExitCode exit_code() noexcept;

 private:
  struct sigaction before_interrupt_ {};
  struct sigaction before_terminate_ {};
};

}  // namespace neap::app
