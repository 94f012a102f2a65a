// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// SpinLock: a lock for sections of some tens of nanoseconds, about half the
// cost of a std::mutex when nobody else wants it. Whoever waits spins a little,
// then yields, then sleeps, so that a holder that lost its core gets it back.
#pragma once

#include <atomic>

#include "neap/base/api.hpp"

namespace neap::base {

class SpinLock {
 public:
  SpinLock() = default;
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

  void lock() noexcept {
    if (is_locked_.exchange(true, std::memory_order_acquire)) {
      wait();
    }
  }
  void unlock() noexcept { is_locked_.store(false, std::memory_order_release); }

 private:
  NEAP_API void wait() noexcept;

  std::atomic<bool> is_locked_{false};
};

}  // namespace neap::base
