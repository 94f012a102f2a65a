// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A captured handle that the step read by detach() or alias() alone was not
// noted: a state kept its first value, and a handle assigned between two calls
// was the one of before. Nor was the place in the graph that a state meant.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class StepDetachesWhatItReadsTest : public ::testing::Test {
 protected:
  Tensor x_ = full({2}, 1.0);
};

TEST_F(StepDetachesWhatItReadsTest, AStateGoesOn) {
  Tensor h = full({2}, 8.0);
  auto step = neap::compile([&](const Tensor& x) { h = h.detach() * 0.5 + x; });
  for (const float expected : {5.0F, 3.5F, 2.75F, 2.375F}) {
    step(x_);
    EXPECT_THAT(floats(h), Each(expected));
  }
  EXPECT_LE(step.traces(), 2);
}

TEST_F(StepDetachesWhatItReadsTest,
       AHandleThatIsAssignedBetweenCallsIsNoticed) {
  Tensor target = full({2}, 1.0);
  auto by_detach =
      neap::compile([&](const Tensor& x) { return x * target.detach(); });
  auto by_alias =
      neap::compile([&](const Tensor& x) { return x * target.alias(); });
  by_detach(x_);
  by_alias(x_);
  target = full({2}, 5.0);
  EXPECT_THAT(floats(by_detach(x_)), Each(5.0F));
  EXPECT_THAT(floats(by_alias(x_)), Each(5.0F));
}

TEST_F(StepDetachesWhatItReadsTest, AWriteGoesWhereTheHandleMeans) {
  Tensor w = requires_grad_(full({2}, 1.0));
  auto step = neap::compile([&](const Tensor& x) { add_(w.detach(), x); });
  step(x_);
  const Tensor old = w;
  w = requires_grad_(full({2}, 10.0));
  step(x_);
  EXPECT_THAT(floats(w), Each(11.0F));
  EXPECT_THAT(floats(old), Each(2.0F));
}

TEST_F(StepDetachesWhatItReadsTest, ARevokedHandleIsAnError) {
  Tensor h;
  auto step = neap::compile([&](const Tensor& x) { return x * h.detach(); });
  {
    const Scope scope;
    h = full({2}, 3.0);
    step(x_);
  }
  EXPECT_THROW(step(x_), UseAfterRelease);
}

TEST_F(StepDetachesWhatItReadsTest, AGradientGoesToTheLeafOfAnAlias) {
  Tensor w = requires_grad_(full({2}, 1.0));
  auto step =
      neap::compile([&](const Tensor& x) { backward(sum(w.alias() * x)); });
  step(x_);
  const Tensor old = w;
  w = requires_grad_(full({2}, 1.0));
  step(x_);
  EXPECT_THAT(floats(w.grad()), Each(1.0F));
  EXPECT_THAT(floats(old.grad()), Each(1.0F));
}

// The state's elements are not read, so that nothing else told of it.
TEST_F(StepDetachesWhatItReadsTest, WhereAStateStandsInTheGraphIsCompared) {
  const Tensor w = requires_grad_(full({2}, 1.0));
  Tensor h = zeros({2});
  const auto expect = [&](auto is_so, const Tensor& other) {
    auto step = neap::compile([&](const Tensor& x) {
      const Tensor y = is_so(h) ? x * 2.0 : x * 3.0;
      h = y;
      return y;
    });
    h = zeros({2});
    const std::vector<float> before = floats(step(x_));
    h = other;
    EXPECT_NE(floats(step(x_)), before);
    EXPECT_EQ(floats(step(x_)), before);
  };
  const Tensor with_gradient = requires_grad_(full({2}, 1.0));
  set_grad(with_gradient, full({2}, 7.0));
  expect([](const Tensor& t) { return t.requires_grad(); }, w);
  expect([](const Tensor& t) { return t.is_leaf(); }, w * 2.0);
  expect([](const Tensor& t) { return t.grad().defined(); }, with_gradient);
}

// Eagerly the argument is what the step has assigned by then.
TEST_F(StepDetachesWhatItReadsTest, AStateIsNotAnArgument) {
  Tensor h = full({2}, 1.0);
  auto step = neap::compile([&](const Tensor& x) {
    h = h * 2.0;
    return x * 1.0;
  });
  EXPECT_THROW(step(h), ValueError);
  EXPECT_THAT(floats(h), Each(1.0F));
  const Tensor copy_of_handle = h;
  EXPECT_THAT(floats(step(copy_of_handle)), Each(1.0F));
  EXPECT_THAT(floats(h), Each(2.0F));
}

TEST_F(StepDetachesWhatItReadsTest, MemoryThatEndsWithTheStepIsNotBorrowed) {
  auto step = neap::compile([](const Tensor& x) {
    std::vector<float> own{1.0F, 2.0F};
    return x + Tensor::borrow(std::span<float>(own), {2});
  });
  EXPECT_THAT([&] { step(x_); },
              ThrowsMessage<TraceError>(HasSubstr("borrow")));
}

TEST_F(StepDetachesWhatItReadsTest, ARetainedGradientOfBeforeIsRefused) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  const Tensor h = w * 2.0;
  retain_grad(h);
  auto step = neap::compile([&](const Tensor& x) {
    const Tensor gradient = h.grad();
    return gradient.defined() ? x * gradient : x * 0.0;
  });
  EXPECT_THAT([&] { step(x_); },
              ThrowsMessage<TraceError>(HasSubstr("was recorded")));
}

}  // namespace
}  // namespace neap::compiler
