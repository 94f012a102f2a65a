// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What a compiled step says that it will need, beside what is there then.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/lower.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

struct Regression {
  Tensor w = requires_grad_(randn({16, 4}));
  Tensor state = zeros({4});

  Tensor operator()(const Tensor& x) const {
    Tensor loss = sum(square(exp(matmul(x, w))));
    backward(loss);
    copy_(state, sum(w.grad(), {0}));
    return loss;
  }
};

// But for the constants that backward begins with.
Bytes gradients_in(const Prediction& said) {
  return said.persistent_by_category[static_cast<std::size_t>(
             memory::Category::kGradients)] -
         said.constants;
}

TEST(CompilePredictionTest, IsKnownBeforeTheFirstRunAndTrueAfterIt) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Regression regression;
  CompileOptions options;
  options.keep_all = true;
  auto step = neap::compile(regression, options);
  EXPECT_THROW(step.prediction(), ValueError);
  EXPECT_THROW(step.measured(), ValueError);
  step.prepare({tensor::Spec{f32, {8, 16}}});
  const Prediction said = step.prediction();
  const Bytes before = domain->stats().live;
  step(ones({8, 16}));
  const Measured seen = step.measured();
  EXPECT_EQ(seen.persistent, said.persistent);
  EXPECT_EQ(seen.arena, said.arena);
  EXPECT_GT(said.arena, 0);
  EXPECT_GE(seen.peak, before);
  EXPECT_GE(seen.peak, said.peak());
  EXPECT_GE(seen.held_peak, seen.peak);
  EXPECT_EQ(gradients_in(said), 16 * 4 * 4);
}

TEST(CompilePredictionTest, TellsOfAGradientThatIsThereWhenARunBegins) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Regression regression;
  auto step = neap::compile(regression);
  for (int i = 0; i < 2; ++i) {  // the second adds to what the first left
    step(ones({8, 16}));
  }
  EXPECT_EQ(step.traces(), 2);
  // The old one and the new one.
  EXPECT_EQ(gradients_in(step.prediction()), 2 * 16 * 4 * 4);
}

TEST(CompilePredictionTest, AProgramHoldsNoGradientBetweenRuns) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Regression regression;
  auto step = neap::compile(regression);
  for (int i = 0; i < 3; ++i) {
    step(ones({8, 16}));
  }
  const Bytes before = domain->stats().live;
  set_grad(regression.w, {});
  EXPECT_LE(domain->stats().live, before - 16 * 4 * 4);
}

TEST(CompilePredictionTest, LowerSaysTheSame) {
  const Regression regression;
  auto step = neap::compile(regression);
  step.prepare({tensor::Spec{f32, {8, 16}}});
  const Lowered lowered = neap::lower(regression, {tensor::Spec{f32, {8, 16}}});
  EXPECT_EQ(lowered.prediction.arena, step.prediction().arena);
  EXPECT_EQ(lowered.prediction.persistent, step.prediction().persistent);
  EXPECT_EQ(lowered.prediction.peak_op, step.prediction().peak_op);
}

}  // namespace
}  // namespace neap::compiler
