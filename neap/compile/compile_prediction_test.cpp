// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The predictions of a compiled step, beside what is there then.
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

// Bytes of gradients without the constants that backward begins with.
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

// Everything that a run asks for is asked for in prepare(), be a block a
// malloc of its own or a part of a page.
class CompilePrepareTest
    : public ::testing::TestWithParam<memory::HostAllocator> {};

TEST_P(CompilePrepareTest, TheFirstRunAsksForNothing) {
  for (const bool is_kept : {false, true}) {
    const auto domain = Domain::create({.host = GetParam()});
    const UseDomain use(*domain);
    const Regression regression;
    CompileOptions options;
    options.keep_all = is_kept;
    auto step = neap::compile(
        [&](const Tensor& x) {
          const Tensor loss = regression(x);
          return std::array{loss, loss * 2.0, regression.state, sum(x, {0}),
                            reshape(loss, {1, 1})};
        },
        options);
    const Tensor x = ones({8, 16});
    step.prepare({x.spec()});
    const memory::Stats before = domain->stats();
    const std::int64_t requests = domain->requests();
    {
      const auto results = step(x);
      EXPECT_EQ(results[0].item(), results[4].item());
      EXPECT_EQ(domain->requests(), requests);
    }
    const memory::Stats after = domain->stats();
    EXPECT_EQ(after.live, before.live) << is_kept;
    EXPECT_EQ(after.live_peak, before.live_peak);
    EXPECT_EQ(after.held, before.held);
    EXPECT_EQ(after.peak, before.peak);
  }
}

TEST_P(CompilePrepareTest, TheLatestOfSeveralHasAskedAhead) {
  const auto domain = Domain::create({.host = GetParam()});
  const UseDomain use(*domain);
  const Regression regression;
  auto step = neap::compile(regression);
  step.prepare({tensor::Spec{f32, {64, 16}}});
  const Bytes one = domain->stats().live;
  step.prepare({tensor::Spec{f32, {8, 16}}});
  const Bytes second = domain->stats().live;
  EXPECT_LT(second, 2 * one);
  step(ones({8, 16}));
  zero_grad({&regression.w, 1});
  step(ones({64, 16}));  // its headers were given back
  EXPECT_LE(domain->stats().live, second + kKiB);
}

INSTANTIATE_TEST_SUITE_P(Allocators, CompilePrepareTest,
                         ::testing::Values(memory::HostAllocator::kPooled,
                                           memory::HostAllocator::kSystem),
                         [](const auto& which) {
                           return which.param == memory::HostAllocator::kPooled
                                      ? "Pooled"
                                      : "System";
                         });

TEST(CompilePredictionTest, TellsOfAGradientThatIsThereWhenARunBegins) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Regression regression;
  auto step = neap::compile(regression);
  for (int i = 0; i < 2; ++i) {  // the second adds to what the first left
    step(ones({8, 16}));
  }
  EXPECT_EQ(step.traces(), 2);
  // There is one gradient: the second run adds to it where it lies.
  EXPECT_EQ(gradients_in(step.prediction()), 16 * 4 * 4);
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
