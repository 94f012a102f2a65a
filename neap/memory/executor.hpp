// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/memory/context.hpp"

namespace neap::memory {

/// The threads that the current thread's kernels run on: those of the context's
/// executor, or the default pool.
NEAP_API threads::Executor& executor();

}  // namespace neap::memory
