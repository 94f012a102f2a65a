// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tests of what a compiled step takes from where it is called: threads, scopes,
// the generator, gradients, memory spaces.
#include <gmock/gmock.h>

#include <thread>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/testing/shadow_space.hpp"
#include "neap/threads/pool.hpp"

namespace neap::compiler {
namespace {

using ::testing::ElementsAre;

TEST(CompileContextTest, RunsOnAnyThread) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  CompileOptions options;
  options.keep_all = true;
  auto step = neap::compile(doubled, options);
  const Tensor x = zeros({2});
  step(x);
  Tensor there;
  std::thread([&] {
    const UseDomain same(*domain);
    there = step(x);
  }).join();
  EXPECT_THAT(floats(there), ElementsAre(2, 2));
  EXPECT_EQ(step.traces(), 1);
}

TEST(CompileContextTest, AnotherNumberOfThreadsIsBoundAnew) {
  auto step = neap::compile(doubled);
  const Tensor x = randn({1000, 10});
  const std::vector<float> expected = floats(doubled(x));
  for (const int threads : {1, 3, 2, 3}) {
    threads::Pool pool(threads);
    const tensor::ExecutionGuard use(
        [&](tensor::Execution& c) { c.executor = &pool; });
    EXPECT_EQ(floats(step(x)), expected);
    EXPECT_EQ(step.plan().threads, threads);
  }
}

TEST(CompileContextTest, ACompiledStepInsideATraceIsAPartOfIt) {
  auto inner = neap::compile(doubled);
  auto outer =
      neap::compile([&](const Tensor& x) { return inner(x) + inner(x); });
  EXPECT_THAT(floats(outer(zeros({1}))), ElementsAre(4));
  EXPECT_EQ(inner.traces(), 0);
}

TEST(CompileContextTest, AScopeFreesResultsAndTheNextCallCreatesThemAnew) {
  auto step = neap::compile(doubled);
  const Tensor x = zeros({1});
  Tensor held;
  for (int i = 0; i < 3; ++i) {
    const memory::Scope scope;
    held = step(x);
    EXPECT_EQ(held.item(), 2.0);
  }
  EXPECT_FALSE(held.defined());
}

TEST(CompileContextTest, DrawsContinueTheCallersGenerator) {
  const auto noisy = [](const Tensor& x) { return x + rand({3}); };
  auto step = neap::compile(noisy);
  const Tensor x = zeros({3});
  Generator one(5);
  Generator two(5);
  for (int i = 0; i < 3; ++i) {
    std::vector<float> compiled;
    {
      const UseGenerator use(one);
      compiled = floats(step(x));
    }
    const UseGenerator use(two);
    EXPECT_EQ(compiled, floats(noisy(x)));
  }
  EXPECT_EQ(one.state().draw, two.state().draw);
  EXPECT_EQ(step.traces(), 1);
}

TEST(CompileContextTest, GradientsAddUpOverCalls) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  auto step = neap::compile([&](const Tensor& x) { backward(sum(w * x)); });
  for (int i = 1; i <= 4; ++i) {
    step(ones({2}));
    EXPECT_THAT(floats(w.grad()), ::testing::Each(static_cast<float>(i)));
    EXPECT_LE(step.traces(), 2) << step.why();
  }
  EXPECT_EQ(step.traces(), 2);  // without a gradient before, and with one
  const Tensor held = w.grad();
  step(ones({2}));
  EXPECT_THAT(floats(held), ::testing::Each(4.0F));
  EXPECT_THAT(floats(w.grad()), ::testing::Each(5.0F));
}

TEST(CompileContextTest, AHeldGradientIsNotWrittenOver) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  auto step = neap::compile([&](const Tensor& x) {
    zero_grad(std::span(&w, 1));
    backward(sum(w * x));
  });
  step(ones({2}));
  const Tensor held = w.grad();
  step(full({2}, 2.0));
  EXPECT_THAT(floats(held), ::testing::Each(1.0F));
  EXPECT_THAT(floats(w.grad()), ::testing::Each(2.0F));
}

TEST(CompileContextTest, AProgramOverTwoSpacesHasTwoArenas) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  testing::ShadowSpace shadow(*domain);
  for (const bool poison : {false, true}) {
    const Tensor w = shadow.from_host(full({4}, 3.0));
    CompileOptions options;
    options.debug.poison = poison;
    options.keep_all = poison;
    auto step = neap::compile(
        [&](const Tensor& x) {
          const Tensor there = exp(to(x, shadow.space())) * w;
          return to(there * there, memory::kHost) + 1.0;
        },
        options);
    for (int i = 0; i < 3; ++i) {
      const Tensor y = step(zeros({4}));
      EXPECT_THAT(floats(y), ::testing::Each(10.0F));
    }
    EXPECT_GT(step.plan().space(shadow.space()).bytes, 0);
    EXPECT_TRUE(poison || step.plan().space().bytes > 0);
    EXPECT_EQ(shadow.foreign_views(), 0);
  }
}

}  // namespace
}  // namespace neap::compiler
