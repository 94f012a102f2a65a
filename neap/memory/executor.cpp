// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/memory/executor.hpp"

#include "neap/threads/pool.hpp"

namespace neap::memory {

threads::Executor& executor() {
  threads::Executor* chosen = context().executor;
  return chosen != nullptr ? *chosen : threads::default_pool();
}

}  // namespace neap::memory
