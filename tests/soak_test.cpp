// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Long runs, behind ./dev soak: a million steps stay flat in bytes, counts and
// system calls, in the ledger and in the process.
#include <gtest/gtest.h>

#include "flatness.hpp"
#include "training_run.hpp"

namespace neap::tests {
namespace {

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
  const Level before = level_of(*domain);
  for (int i = 0; i < 1'000'000; ++i) {
    run.step();
  }
  expect_flat(level_of(*domain), before);
}

}  // namespace
}  // namespace neap::tests
