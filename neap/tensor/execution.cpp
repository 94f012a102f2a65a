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

const Execution& execution(const base::CallSite& site) noexcept {
  base::tell_of_question("execution", "how the call runs", site);
  return current_execution();
}

const Execution& thread_execution() noexcept {
  return current_execution();
}

Execution& ExecutionGuard::current() noexcept {
  return current_execution();
}

threads::Executor& executor() {
  threads::Executor* chosen = thread_execution().executor;
  return chosen != nullptr ? *chosen : threads::process_pool();
}

}  // namespace neap::tensor
