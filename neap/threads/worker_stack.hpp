// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The stacks of our threads, and starting one on its stack. The system's thread
// library keeps the stacks of joined threads for reuse, of any size; so ours
// are mapped here, and what is stated (as external "thread stacks") is what
// there is.
#pragma once

#include <pthread.h>

#include "neap/base/bytes.hpp"

namespace neap::threads {

/// The stack that a worker with `bytes` of its own needs: the system puts its
/// thread-local variables on the same stack, and under a sanitizer they alone
/// are larger than that.
Bytes stack_bytes_for(Bytes bytes) noexcept;

/// A page that nobody may touch: an overflow meets it.
Bytes guard_bytes() noexcept;

/// Maps guard_bytes() and above them `bytes`; returns where the guard begins,
/// or nullptr where the system has no more.
void* map_stack(Bytes bytes) noexcept;
void unmap_stack(void* stack, Bytes bytes) noexcept;

/// Starts a thread on a stack of map_stack(bytes). It takes no signals: those
/// are for the host program's threads. False where the system gives no more.
bool start_on_stack(pthread_t& thread, void* stack, Bytes bytes,
                    void* (*main)(void*), void* argument,
                    const char* name) noexcept;

}  // namespace neap::threads
