// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that two threads profiled wrote the times of the one's calls into the
// profile of the other, which was gone when the other had been refused.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <thread>

#include "neap/compile/compile.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

TEST(StepProfiledByTwoThreadsTest, OneIsRefusedOrBothHaveTheirTimes) {
  auto step = compile([](const Tensor& x) {
    Tensor y = x;
    for (int i = 0; i < 20; ++i) {
      y = exp(y * 0.1);
    }
    return y;
  });
  const Tensor x = full({64}, 0.5);
  step(x);
  std::atomic<int> whole{0};
  const auto work = [&] {
    for (int i = 0; i < 300; ++i) {
      try {
        const auto profile = step.profile({.runs = 3}, x);
        EXPECT_EQ(profile.runs, 3);
        ++whole;
      } catch (const ValueError&) {  // the other one has it
      }
    }
  };
  std::array threads{std::thread(work), std::thread(work)};
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_GT(whole.load(), 0);
}

// Calls of another thread are not among the runs, and are not refused for them.
TEST(StepProfiledByTwoThreadsTest, OnlyCallsOfTheThreadAreTimed) {
  auto step = compile([](const Tensor& x) { return exp(x); });
  const Tensor x = full({64}, 0.5);
  step(x);
  compiler::Profile profile;
  step.set_profile(&profile);
  std::thread([&] {
    step(x);
    compiler::Profile other;
    EXPECT_THROW(step.set_profile(&other), ValueError);
    step.set_profile(nullptr);  // is not its own
  }).join();
  EXPECT_EQ(profile.runs, 0);
  step(x);
  step.set_profile(nullptr);
  EXPECT_EQ(profile.runs, 1);
}

}  // namespace
}  // namespace neap
