// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/memory/context.hpp"

namespace neap::memory {

/// Where the current thread's kernels get their threads from: the context's
/// executor, or the default pool.
NEAP_API threads::Executor& executor();

}  // namespace neap::memory
