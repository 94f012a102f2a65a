// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// An outside counter (malloc and mmap families) agrees with the ledger: what it
// sees beyond held bytes is at most 64 KiB, the same from the third step to the
// end, and the same for a model ten times as large, in width and in depth.
#include <gtest/gtest.h>

#include "support/counting_malloc.hpp"
#include "training_run.hpp"

namespace neap::tests {
namespace {

class OutsideCounterTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!support::is_counting()) {
      GTEST_SKIP() << "a sanitizer counts here";
    }
  }

  // Bytes beyond the ledger after the third and the last step, less what the
  // process had before.
  struct Beyond {
    Bytes at_third = 0;
    Bytes at_end = 0;
  };
  static Beyond measure(const RunOptions& options) {
    const Bytes before = support::outside_stats().bytes_live;
    const auto domain = Domain::create();
    TrainingRun run(*domain, options);
    const auto beyond = [&] {
      return support::outside_stats().bytes_live - before -
             domain->stats().held;
    };
    Beyond result;
    for (int i = 0; i < 3; ++i) {
      run.step();
    }
    result.at_third = beyond();
    for (int i = 0; i < 30; ++i) {
      run.step();
    }
    result.at_end = beyond();
    return result;
  }
};

TEST_F(OutsideCounterTest, SeesAtMost64KiBBeyondTheLedgerForAnyModel) {
  measure({});  // one-time costs of the process: locale, first throw, pools
  const Beyond small = measure({});
  const Beyond wide = measure({.width = 320, .hidden = {480, 240}});
  RunOptions deep_options;
  deep_options.hidden.assign(30, 24);
  const Beyond deep = measure(deep_options);
  EXPECT_LE(small.at_end, 64 * kKiB);
  EXPECT_EQ(small.at_third, small.at_end);
  EXPECT_EQ(wide.at_third, wide.at_end);
  EXPECT_EQ(deep.at_third, deep.at_end);
  EXPECT_EQ(wide.at_end, small.at_end);
  EXPECT_EQ(deep.at_end, small.at_end);
}

}  // namespace
}  // namespace neap::tests
