// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "interrupt.hpp"

namespace neap::app {
namespace {

// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
volatile std::sig_atomic_t caught = 0;

void on_signal(int signal) {
  caught = signal;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  caught = 0;
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
  sigaction(SIGINT, &action, &before_interrupt_);
  sigaction(SIGTERM, &action, &before_terminate_);
}

InterruptGuard::~InterruptGuard() {
  sigaction(SIGINT, &before_interrupt_, nullptr);
  sigaction(SIGTERM, &before_terminate_, nullptr);
}

bool InterruptGuard::is_asked_to_stop() noexcept {
  return caught != 0;
}

ExitCode InterruptGuard::exit_code() noexcept {
  if (caught == 0) {
    return ExitCode::kOk;
  }
  return caught == SIGTERM ? ExitCode::kTerminated : ExitCode::kInterrupted;
}

}  // namespace neap::app
