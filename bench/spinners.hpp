// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Busy neighbours: processes of their own that do nothing but compute.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

namespace neap::bench {

class Spinners {
 public:
  /// REQUIRES: no other thread holds a lock (the children are forks).
  explicit Spinners(int count) {
    for (int i = 0; i < count; ++i) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // ends when we do, however we do
        for (volatile unsigned long turns = 0;;) {
          turns = turns + 1;
        }
      }
      if (child > 0) {
        children_.push_back(child);
      }
    }
  }
  ~Spinners() {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  Spinners(const Spinners&) = delete;
  Spinners& operator=(const Spinners&) = delete;

  int count() const noexcept { return static_cast<int>(children_.size()); }
  void stop() noexcept { signal_all(SIGSTOP); }
  void go_on() noexcept { signal_all(SIGCONT); }

 private:
  void signal_all(int number) noexcept {
    for (const pid_t child : children_) {
      ::kill(child, number);
    }
  }
  std::vector<pid_t> children_;
};

}  // namespace neap::bench
