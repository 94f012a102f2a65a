// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/report/step_log.hpp"

#include <gtest/gtest.h>

namespace neap::report {
namespace {

class StepLogTest : public testing::Test {
 protected:
  void add(int count) {
    for (int i = 0; i < count; ++i) {
      log_.add({.live = log_.count(), .held = 0, .ns = 1});
    }
  }

  StepLog log_;
};

TEST_F(StepLogTest, KeepsAllStepsOfAShortRun) {
  add(2048);
  EXPECT_EQ(log_.kept().size(), 2048U);
  EXPECT_EQ(log_.stride(), 1);
  EXPECT_EQ(log_.kept().back().live, 2047);
}

TEST_F(StepLogTest, KeepsEverySecondOfALongerOneAndSoOn) {
  add(2049);
  EXPECT_EQ(log_.kept().size(), 1025U);
  EXPECT_EQ(log_.stride(), 2);
  add(100'000 - 2049);
  EXPECT_EQ(log_.stride(), 64);
  EXPECT_EQ(log_.count(), 100'000);
  ASSERT_EQ(log_.kept().size(), 1563U);
  for (std::size_t i = 0; i < log_.kept().size(); ++i) {
    ASSERT_EQ(log_.kept()[i].live, static_cast<Bytes>(64 * i));
  }
}

TEST_F(StepLogTest, TakesItsMemoryAtOnce) {
  const Bytes before = memory::domain().stats().live;
  add(10'000);
  EXPECT_EQ(memory::domain().stats().live, before);
}

}  // namespace
}  // namespace neap::report
