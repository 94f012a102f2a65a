// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Long runs, behind ./dev soak: a million steps stay flat in bytes, counts and
// system calls, in the ledger and in the process.
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "training_run.hpp"

namespace neap::tests {
namespace {

Bytes resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  Bytes size = 0;
  Bytes resident = 0;
  statm >> size >> resident;
  return resident * 4096;
}

TEST(SoakTest, AMillionStepsAreFlat) {
  const auto domain = Domain::create();
  TrainingRun run(*domain, {.width = 8,
                            .hidden = {12, 12},
                            .batch = 8,
                            .samples = 60,
                            .threads = 2});
  for (int i = 0; i < 100; ++i) {
    run.step();
  }
  const memory::Stats before = domain->stats();
  const Bytes resident = resident_bytes();
  for (int i = 0; i < 1'000'000; ++i) {
    run.step();
  }
  const memory::Stats after = domain->stats();
  EXPECT_EQ(after.live, before.live);
  EXPECT_EQ(after.live_blocks, before.live_blocks);
  EXPECT_EQ(after.held, before.held);
  EXPECT_EQ(after.peak, before.peak);
  EXPECT_EQ(after.system_calls, before.system_calls);
  EXPECT_LE(resident_bytes(), resident + 64 * kKiB);
}

}  // namespace
}  // namespace neap::tests
