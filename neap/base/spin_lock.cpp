// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/base/spin_lock.hpp"

#include <chrono>
#include <thread>

namespace neap::base {
namespace {

constexpr int kSpins = 200;
constexpr int kYields = 100;
constexpr auto kSleep = std::chrono::microseconds(50);

void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

}  // namespace

void SpinLock::wait() noexcept {
  for (int attempt = 0;; ++attempt) {
    // Looking is cheaper for the holder than trying.
    if (!is_locked_.load(std::memory_order_relaxed) &&
        !is_locked_.exchange(true, std::memory_order_acquire)) {
      return;
    }
    if (attempt < kSpins) {
      relax();
    } else if (attempt < kSpins + kYields) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(kSleep);
    }
  }
}

}  // namespace neap::base
