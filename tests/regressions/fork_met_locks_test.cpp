// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A child that was forked while another thread was in the allocation door found
// its lock taken, by a thread that the child does not have, and waited for
// ever: some in a hundred children did.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

TEST(ForkMetLocks, AChildAllocatesWhileThreadsOfItsParentDo) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers do not survive every fork";
#endif
  constexpr int kForks = 500;
  constexpr unsigned kSecondsOfAHang = 10;
  std::atomic<bool> is_over{false};
  constexpr int kThreads = 3;
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      while (!is_over.load(std::memory_order_relaxed)) {
        const Scope scope("loop");
        zeros({4, 4});
      }
    });
  }
  int hung = 0;
  for (int i = 0; i < kForks && hung == 0; ++i) {
    const pid_t child = ::fork();
    if (child == 0) {
      ::alarm(kSecondsOfAHang);
      {
        const Scope scope("child");
        zeros({4, 4});
      }
      ::_exit(0);
    }
    int status = 0;
    ::waitpid(child, &status, 0);
    hung += status == 0 ? 0 : 1;
  }
  is_over = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(hung, 0);
}

}  // namespace
}  // namespace neap
