// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/graph/update_watch.hpp"

#include <atomic>

namespace neap::graph {
namespace {

std::atomic<UpdateWatcher*>& current() noexcept {
  static constinit std::atomic<UpdateWatcher*> watcher{nullptr};
  return watcher;
}

}  // namespace

void watch_updates(UpdateWatcher* watcher) noexcept {
  current().store(watcher, std::memory_order_release);
}

UpdateWatcher* update_watcher() noexcept {
  return current().load(std::memory_order_acquire);
}

}  // namespace neap::graph
