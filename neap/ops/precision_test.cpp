// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/precision.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "neap/base/error.hpp"

namespace neap {
namespace {

TEST(PrecisionTest, IsF32UntilTheUserSaysOtherwise) {
  EXPECT_EQ(current_precision(), Precision::kF32);
}

TEST(PrecisionTest, NestsAndComesBackPerThread) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  {
    const UsePrecision outer(Precision::kBf16);
    EXPECT_EQ(current_precision(), Precision::kBf16);
    {
      const UsePrecision inner(Precision::kF32);
      EXPECT_EQ(current_precision(), Precision::kF32);
    }
    EXPECT_EQ(current_precision(), Precision::kBf16);
    Precision elsewhere = Precision::kBf16;
    std::thread([&] { elsewhere = current_precision(); }).join();
    EXPECT_EQ(elsewhere, Precision::kF32);
  }
  EXPECT_EQ(current_precision(), Precision::kF32);
}

TEST(PrecisionTest, IsRefusedWhereTheProcessorCannot) {
  if (kernels::has_bf16_dot()) {
    GTEST_SKIP() << "this processor can";
  }
  EXPECT_THROW(UsePrecision guard(Precision::kBf16), DeviceError);
  EXPECT_EQ(current_precision(), Precision::kF32);
}

}  // namespace
}  // namespace neap
