// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Companion: a second thread that does what it is handed, while the first one
// waits. It lives as long as its object, since a thread a time would cost more
// than all that is handed over.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace neap::lifetimes {

class Companion {
 public:
  Companion() : thread_([this] { serve(); }) {}
  ~Companion() {
    hand_over(nullptr, true);
    thread_.join();
  }
  Companion(const Companion&) = delete;
  Companion& operator=(const Companion&) = delete;

  /// Does `work` there; what it throws is thrown here.
  void run(const std::function<void()>& work) {
    hand_over(&work, false);
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return work_ == nullptr; });
    if (failure_) {
      std::rethrow_exception(std::exchange(failure_, nullptr));
    }
  }

 private:
  void hand_over(const std::function<void()>* work, bool is_end) {
    {
      const std::lock_guard guard(mutex_);
      work_ = work;
      is_over_ = is_end;
    }
    changed_.notify_all();
  }

  void serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return work_ != nullptr || is_over_; });
      if (is_over_) {
        return;
      }
      try {
        (*work_)();
      } catch (...) {
        failure_ = std::current_exception();
      }
      work_ = nullptr;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;
  std::exception_ptr failure_;
  bool is_over_ = false;
  std::thread thread_;  // last: it uses the others
};

}  // namespace neap::lifetimes
