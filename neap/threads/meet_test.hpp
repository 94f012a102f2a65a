// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// For tests of the pool: parts that wait for one another, so that no thread
// can be done with its own and take another's.
#pragma once

#include <atomic>
#include <chrono>
#include <thread>

namespace neap::threads {

class Meeting {
 public:
  explicit Meeting(int wanted) noexcept : wanted_(wanted) {}

  /// Returns when as many have come as were wanted, or after some seconds.
  void come() noexcept {
    ++arrived_;
    const auto end = std::chrono::steady_clock::now() + kPatience;
    while (arrived_.load() < wanted_ &&
           std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
    }
  }

 private:
  static constexpr auto kPatience = std::chrono::seconds(5);
  int wanted_;
  std::atomic<int> arrived_{0};
};

}  // namespace neap::threads
