// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The pool of the process, and what its size is by default.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "neap/base/outside.hpp"
#include "neap/threads/pool.hpp"

namespace neap::threads {
namespace {

// A setting of the process.
// NOLINTNEXTLINE(cppcoreguidelines-avoid-non-const-global-variables)
constinit std::atomic<int> requested_threads{0};

int default_threads() noexcept {
  const int asked = requested_threads.load(std::memory_order_relaxed);
  return asked != 0 ? asked : std::min(usable_processors(), kMaxThreads);
}

}  // namespace

int usable_processors() noexcept {
  cpu_set_t set;
  CPU_ZERO(&set);
  // Fails on machines with more processors than the set can name.
  if (::sched_getaffinity(0, sizeof(set), &set) == 0) {
    return std::max(1, CPU_COUNT(&set));
  }
  return static_cast<int>(std::max(1L, ::sysconf(_SC_NPROCESSORS_ONLN)));
}

Pool& process_pool() {
  static Pool pool(default_threads());
  return pool;
}

Pool& default_pool(const base::CallSite& site) {
  base::tell_of_question("default_pool", "how the call runs", site);
  return process_pool();
}

void set_default_threads(int threads) {
  if (threads >= 0 && threads <= kMaxThreads) {
    requested_threads.store(threads, std::memory_order_relaxed);
  }
  process_pool().resize(threads != 0 ? threads : default_threads());
}

}  // namespace neap::threads
