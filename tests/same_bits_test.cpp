// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The same seed gives the same bits: for any number of threads, beside a busy
// neighbour, under a budget, and with a host program's own threads.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "neap/memory/budget.hpp"
#include "training_run.hpp"

namespace neap::tests {
namespace {

// Wide enough that its products are split among threads.
RunOptions wide(int threads) {
  return {.width = 256,
          .hidden = {320, 192},
          .batch = 64,
          .samples = 300,
          .threads = threads};
}

std::uint64_t train_and_hash(const RunOptions& options, int steps = 12,
                             Bytes budget = kUnlimited) {
  const auto domain = Domain::create();
  const Budget guard(budget, *domain);
  TrainingRun run(*domain, options);
  for (int i = 0; i < steps; ++i) {
    run.step();
  }
  return run.hash();
}

// A process that keeps a processor busy until the guard goes.
class BusyNeighbour {
 public:
  BusyNeighbour() : child_(fork()) {
    if (child_ == 0) {
      volatile unsigned spin = 0;
      for (;;) {
        spin = spin + 1;
      }
    }
  }
  ~BusyNeighbour() {
    kill(child_, SIGKILL);
    waitpid(child_, nullptr, 0);
  }
  BusyNeighbour(const BusyNeighbour&) = delete;
  BusyNeighbour& operator=(const BusyNeighbour&) = delete;

 private:
  pid_t child_;
};

TEST(SameBitsTest, DependOnTheSeed) {
  RunOptions other = wide(1);
  other.seed = 8;
  EXPECT_NE(train_and_hash(wide(1)), train_and_hash(other));
}

TEST(SameBitsTest, DoNotDependOnTheNumberOfThreads) {
  const std::uint64_t one = train_and_hash(wide(1));
  EXPECT_EQ(train_and_hash(wide(2)), one);
  EXPECT_EQ(train_and_hash(wide(3)), one);
}

TEST(SameBitsTest, DoNotDependOnABusyNeighbour) {
  const std::uint64_t alone = train_and_hash(wide(2));
  const BusyNeighbour first;
  const BusyNeighbour second;
  EXPECT_EQ(train_and_hash(wide(2)), alone);
}

TEST(SameBitsTest, DoNotDependOnTheBudget) {
  const std::uint64_t free = train_and_hash(wide(1));
  const auto domain = Domain::create();
  {
    TrainingRun run(*domain, wide(1));
    for (int i = 0; i < 3; ++i) {
      run.step();
    }
  }
  // Bytes that a step needs, without the pages that a free run keeps idle.
  const memory::Stats stats = domain->stats();
  EXPECT_EQ(train_and_hash(wide(1), 12, stats.peak + stats.external), free);
}

}  // namespace
}  // namespace neap::tests
