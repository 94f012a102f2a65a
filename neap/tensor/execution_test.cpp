// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/tensor/execution.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "neap/threads/pool.hpp"

namespace neap::tensor {
namespace {

TEST(ExecutionTest, RecordsUnlessToldOtherwise) {
  EXPECT_TRUE(execution().grad_enabled);
  EXPECT_EQ(execution().recorder, nullptr);
  EXPECT_EQ(execution().trace, nullptr);
}

TEST(ExecutionTest, GuardsPutBackWhatTheyFound) {
  {
    const UseGradMode outer(false);
    {
      const UseGradMode inner(true);
      EXPECT_TRUE(execution().grad_enabled);
    }
    EXPECT_FALSE(execution().grad_enabled);
  }
  EXPECT_TRUE(execution().grad_enabled);
}

TEST(ExecutionTest, GuardsPutBackWhenAnExceptionPasses) {
  try {
    const UseGradMode guard(false);
    throw 1;
  } catch (int) {
    EXPECT_TRUE(execution().grad_enabled);
  }
}

TEST(ExecutionTest, IsOnePerThread) {
  const UseGradMode guard(false);
  bool there = false;
  std::thread([&] { there = execution().grad_enabled; }).join();
  EXPECT_TRUE(there);
}

TEST(ExecutionTest, LendsItsExecutorWhereItHasOne) {
  EXPECT_EQ(&executor(), &threads::default_pool());
  threads::Pool own(2);
  const ExecutionGuard guard([&](Execution& e) { e.executor = &own; });
  EXPECT_EQ(&executor(), &own);
}

}  // namespace
}  // namespace neap::tensor
