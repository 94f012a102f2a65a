// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/execution.hpp"

#include "neap/threads/pool.hpp"

namespace neap::tensor {
namespace {

Execution& current_execution() noexcept {
  static constinit thread_local Execution running;
  return running;
}

}  // namespace

const Execution& execution() noexcept {
  return current_execution();
}

Execution& ExecutionGuard::current() noexcept {
  return current_execution();
}

threads::Executor& executor() {
  threads::Executor* chosen = execution().executor;
  return chosen != nullptr ? *chosen : threads::default_pool();
}

}  // namespace neap::tensor
