// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A settled loop is flat: in bytes, in counts, and in what it asks the system
// for.
#include <gtest/gtest.h>

#include "support/counting_malloc.hpp"
#include "training_run.hpp"

namespace neap::tests {
namespace {

void expect_flat(std::int64_t steps) {
  const auto domain = Domain::create({.host = memory::HostAllocator::kPooled});
  {
    TrainingRun run(*domain,
                    {.width = 8, .hidden = {12}, .batch = 8, .samples = 40});
    for (int i = 0; i < 100; ++i) {
      run.step();
    }
    const memory::Stats at_100 = domain->stats();
    for (std::int64_t i = 100; i < steps; ++i) {
      run.step();
    }
    const memory::Stats at_end = domain->stats();
    EXPECT_EQ(at_end.live, at_100.live);
    EXPECT_EQ(at_end.live_blocks, at_100.live_blocks);
    EXPECT_EQ(at_end.held, at_100.held);
    EXPECT_EQ(at_end.peak, at_100.peak);
    EXPECT_EQ(at_end.books, at_100.books);
    EXPECT_EQ(at_end.system_calls, at_100.system_calls);
  }
  EXPECT_EQ(domain->stats().live, 0);
}

TEST(FlatTest, BytesAndCountsAtStep100EqualThoseAtTheEnd) {
  expect_flat(100'000);
}

TEST(FlatTest, MakesNoHeapOrMapCallFromTheThirdStep) {
  if (!support::is_counting()) {
    GTEST_SKIP() << "a sanitizer counts here";
  }
  const auto domain = Domain::create();
  TrainingRun run(*domain, {.width = 784,
                            .hidden = {512, 256},
                            .batch = 128,
                            .samples = 640,
                            .threads = 2});
  for (int i = 0; i < 2; ++i) {
    run.step();
  }
  support::reset_outside_calls();
  for (int i = 0; i < 20; ++i) {
    run.step();
  }
  const support::OutsideStats outside = support::outside_stats();
  EXPECT_EQ(outside.heap_calls, 0);
  EXPECT_EQ(outside.map_calls, 0);
  EXPECT_LT(outside.largest_heap_call, 128 * kKiB);
  EXPECT_LT(outside.largest_map_call, 128 * kKiB);
}

}  // namespace
}  // namespace neap::tests
