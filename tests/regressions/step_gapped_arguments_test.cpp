// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Arguments of a compiled step that are views with gaps: what the step wrote
// into them was lost, and such a view of the step's own state was stale.
#include <gmock/gmock.h>

#include "neap/compile/compile_for_test.hpp"
#include "neap/program/verify.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

Tensor matrix() {
  return from_values({1, 2, 3, 4, 5, 6}, {3, 2});
}

Tensor column(const Tensor& m, std::int64_t k) {
  return reshape(narrow(m, 1, k, 1), {3});
}

TEST(StepGappedArgumentsTest, AWriteReachesTheCallersElements) {
  auto step = neap::compile([](const Tensor& x) { copy_(x, x + 10.0); });
  const Tensor m = matrix();
  step(narrow(m, 1, 0, 1));
  EXPECT_THAT(floats(m), ElementsAre(11, 2, 13, 4, 15, 6));
  step(narrow(m, 1, 1, 1));
  EXPECT_THAT(floats(m), ElementsAre(11, 12, 13, 14, 15, 16));
}

TEST(StepGappedArgumentsTest, DenseAndGappedArgumentsAreTwoPrograms) {
  auto step = neap::compile([](const Tensor& x) {
    copy_(x, x + 1.0);
    return x;
  });
  const Tensor m = matrix();
  const Tensor dense = zeros({3, 1});
  for (int i = 1; i <= 3; ++i) {
    const Tensor y = step(narrow(m, 1, 1, 1));
    EXPECT_TRUE(y.is_alias_of(m));
    EXPECT_EQ(y.at({2, 0}), 6.0 + i);
    step(dense);
    EXPECT_THAT(floats(dense), Each(static_cast<float>(i)));
  }
  EXPECT_THAT(floats(m), ElementsAre(1, 5, 3, 7, 5, 9));
}

// Builds with checks took the extent of the view for a wrong size.
TEST(StepGappedArgumentsTest, TheProgramIsWellFormed) {
  auto step = neap::compile([](const Tensor& x) { copy_(x, x + 10.0); });
  const Tensor m = matrix();
  step(narrow(m, 1, 0, 1));
  EXPECT_EQ(fault_of(step.program()), "");
}

TEST(StepGappedArgumentsTest, ViewsOfOneLayoutAreOneProgram) {
  auto step = neap::compile([](const Tensor& x) { return sum(x * 2.0); });
  const Tensor m = matrix();
  EXPECT_EQ(step(narrow(m, 1, 0, 1)).item(), 18.0);
  EXPECT_EQ(step(narrow(m, 1, 1, 1)).item(), 24.0);
  EXPECT_EQ(step.traces(), 1);
  EXPECT_EQ(step(ones({3, 1})).item(), 6.0);
  EXPECT_EQ(step.traces(), 2);
}

TEST(StepGappedArgumentsTest, AStepMayAskWhetherItsArgumentHasGaps) {
  auto step = neap::compile(
      [](const Tensor& x) { return x.is_contiguous() ? x + 1.0 : x + 2.0; });
  const Tensor m = matrix();
  EXPECT_EQ(step(m).at({0, 0}), 2.0);
  EXPECT_EQ(step(transpose(m, 0, 1)).at({0, 0}), 3.0);
}

TEST(StepGappedArgumentsTest, AWrittenArgumentThatTheStepCapturedIsRefused) {
  const Tensor state = matrix();
  auto step = neap::compile([&](const Tensor& x) {
    copy_(x, x * 2.0);
    return state + 0.0;
  });
  EXPECT_THROW(step(narrow(state, 0, 0, 1)), ValueError);
  EXPECT_EQ(state.at({0, 0}), 1.0);
}

TEST(StepGappedArgumentsTest, AliasesThatTheStepAsksForAreRefused) {
  const Tensor state = matrix();
  auto step = neap::compile([&](const Tensor& x) {
    return x.is_alias_of(state) ? x + 1.0 : x + 2.0;
  });
  EXPECT_EQ(step(ones({2})).at({0}), 3.0);
  EXPECT_THROW(step(narrow(state, 0, 0, 1)), ValueError);
}

TEST(StepGappedArgumentsTest, AViewOfStateThatTheStepWritesIsRefused) {
  const Tensor state = matrix();
  auto step = neap::compile([&](const Tensor& x) {
    mul_(state, 2.0);
    return x + 0.0;
  });
  EXPECT_THAT(message_of([&] { step(column(state, 0)); }),
              ::testing::AnyOf(::testing::HasSubstr("shares its storage"),
                               ::testing::IsEmpty()));
  EXPECT_THROW(step(narrow(state, 1, 0, 1)), ValueError);
}

}  // namespace
}  // namespace neap::compiler
