// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/watcher.hpp"

#include <atomic>

namespace neap::compiler {
namespace {

std::atomic<StepWatcher*>& current() noexcept {
  static constinit std::atomic<StepWatcher*> watcher{nullptr};
  return watcher;
}

}  // namespace

void watch_steps(StepWatcher* watcher) noexcept {
  current().store(watcher, std::memory_order_release);
}

StepWatcher* step_watcher() noexcept {
  return current().load(std::memory_order_acquire);
}

}  // namespace neap::compiler
