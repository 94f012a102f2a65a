// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Under NoGrad an argument of a compiled step may require a gradient, or be a
// frozen leaf. The trace took it for a tensor that no graph knows, and a step
// that asked went on with those answers; EnableGrad in the step left out its
// gradient. What the step asks is compared with each call's arguments now.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

auto is_refused(const char* what) {
  return ThrowsMessage<ValueError>(HasSubstr(what));
}

TEST(StepArgumentsInGraphsTest, WhetherOneRequiresAGradient) {
  auto step = neap::compile(
      [](const Tensor& x) { return x.requires_grad() ? x * 2.0 : x * 3.0; });
  const Tensor plain = full({2}, 1.0);
  const Tensor tracked = requires_grad_(full({2}, 1.0));
  const NoGrad none;
  EXPECT_THAT(floats(step(plain)), Each(3.0F));
  EXPECT_THAT([&] { step(tracked); }, is_refused("argument 0 requires grad"));
  EXPECT_THAT(floats(step(tracked.detach())), Each(3.0F));
  EXPECT_EQ(step.traces(), 1);
}

TEST(StepArgumentsInGraphsTest, WhetherOneIsALeaf) {
  auto step = neap::compile(
      [](const Tensor& x) { return x.is_leaf() ? x * 2.0 : x * 3.0; });
  const Tensor leaf = requires_grad_(full({2}, 1.0));
  const Tensor result = leaf * 1.0;
  const NoGrad none;
  EXPECT_THAT(floats(step(leaf)), Each(2.0F));
  EXPECT_THAT([&] { step(result); }, is_refused("is the result of an op"));
}

TEST(StepArgumentsInGraphsTest, WhetherOneHasAGradient) {
  auto step = neap::compile(
      [](const Tensor& x) { return x.grad().defined() ? x * 2.0 : x * 3.0; });
  const Tensor leaf = requires_grad_(full({2}, 1.0));
  {
    const NoGrad none;
    EXPECT_THAT(floats(step(leaf)), Each(3.0F));
  }
  backward(sum(leaf));
  {
    const NoGrad none;
    EXPECT_THAT([&] { step(leaf); }, is_refused("has a gradient"));
  }
  requires_grad_(leaf, false);  // frozen: an argument with gradients enabled
  EXPECT_THAT([&] { step(leaf); }, is_refused("has a gradient"));
}

TEST(StepArgumentsInGraphsTest, GradientsEnabledInTheStepReachIt) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  auto step = neap::compile([&](const Tensor& x) {
    const EnableGrad enabled;
    set_grad(w, {});
    backward(sum(w * x));
  });
  const Tensor plain = full({2}, 2.0);
  const Tensor tracked = requires_grad_(full({2}, 2.0));
  const NoGrad none;
  step(plain);
  EXPECT_THAT(floats(w.grad()), Each(2.0F));
  EXPECT_THAT([&] { step(tracked); }, is_refused("argument 0 requires grad"));
  EXPECT_FALSE(tracked.grad().defined());
}

TEST(StepArgumentsInGraphsTest, AGradientThatTheStepClears) {
  auto step = neap::compile([](const Tensor& x) {
    zero_grad(std::span(&x, 1));
    return x * 2.0;
  });
  auto freezing = neap::compile([](const Tensor& x) {
    requires_grad_(x, false);
    return x * 2.0;
  });
  const Tensor leaf = requires_grad_(full({2}, 1.0));
  backward(sum(leaf));
  const NoGrad none;
  EXPECT_THAT([&] { step(leaf); }, is_refused("has a gradient"));
  EXPECT_THAT([&] { freezing(leaf); }, is_refused("requires grad"));
}

// The leaf is the step's own, whatever the argument is.
TEST(StepArgumentsInGraphsTest, ALeafThatTheStepMakesOfOneIsNoQuestion) {
  auto step = neap::compile([](const Tensor& x) {
    const EnableGrad enabled;
    const Tensor p = requires_grad_(x.detach());
    backward(sum(p * p));
    return p.grad();
  });
  const Tensor leaf = requires_grad_(full({2}, 3.0));
  backward(sum(leaf));
  const NoGrad none;
  EXPECT_THAT(floats(step(leaf)), Each(6.0F));
}

// Nothing is asked, so that any argument will do.
TEST(StepArgumentsInGraphsTest, AStepThatDoesNotAskTakesAll) {
  auto step = neap::compile([](const Tensor& x) { return relu(x) + 1.0; });
  const Tensor leaf = requires_grad_(full({2}, 1.0));
  const Tensor result = leaf * 1.0;
  requires_grad_(leaf, false);
  EXPECT_THAT(floats(step(leaf)), Each(2.0F));
  const NoGrad none;
  EXPECT_THAT(floats(step(result)), Each(2.0F));
  requires_grad_(leaf, true);
  EXPECT_THAT(floats(step(leaf)), Each(2.0F));
  EXPECT_EQ(step.traces(), 2);  // with gradients enabled and without
}

}  // namespace
}  // namespace neap::compiler
