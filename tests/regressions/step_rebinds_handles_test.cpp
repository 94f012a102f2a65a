// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that made all copies of a captured handle mean another tensor did so
// while it was traced, and in no run after.
#include <gtest/gtest.h>

#include "neap/compile/compile.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

TEST(StepRebindsHandles, IsRefusedAndLeavesTheHandle) {
  const Tensor one = full({2}, 1.0);
  Tensor tied = one;
  const Tensor other = full({2}, 3.0);
  auto step = compile([&](const Tensor& x) {
    tied.rebind(other);
    return tied * x;
  });
  EXPECT_THROW(step(full({2}, 2.0)), TraceError);
  EXPECT_EQ(one.at({0}), 1.0);
  EXPECT_EQ(tied.at({1}), 1.0);
  tied.rebind(other);  // outside
  EXPECT_EQ(one.at({0}), 3.0);
}

}  // namespace
}  // namespace neap
