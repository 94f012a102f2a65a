// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Refusals of a compiled step, and the state that they leave.
#include <gmock/gmock.h>

#include <functional>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/fail_sweep.hpp"

namespace neap::compiler {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CompileFailureTest, AnArgumentMayNotLieWhereTheStepWrites) {
  const Tensor state = zeros({2});
  auto step = neap::compile([&](const Tensor& x) { copy_(state, x + 1.0); });
  step(ones({2}));
  EXPECT_THROW(step(state), ValueError);
  EXPECT_THAT(floats(state), ElementsAre(2, 2));
}

TEST(CompileFailureTest, AResultMayNotBeAnArgumentUnlessKept) {
  auto step = neap::compile([](const Tensor& x) { return x + 1.0; });
  const Tensor one = step(zeros({1}));
  EXPECT_THAT(message_of([&] { step(one); }), HasSubstr(".keep"));
  CompileOptions options;
  options.keep_all = true;
  auto kept = neap::compile([](const Tensor& x) { return x + 1.0; }, options);
  Tensor h = zeros({1});
  for (int i = 0; i < 4; ++i) {
    h = kept(h);
  }
  EXPECT_EQ(h.item(), 4.0);
}

TEST(CompileFailureTest, ATrackedArgumentIsRefused) {
  auto step = neap::compile(doubled);
  EXPECT_THROW(step(requires_grad_(zeros({1}))), ValueError);
}

TEST(CompileFailureTest, AViewWithGapsIsCopied) {
  auto step = neap::compile(doubled);
  const Tensor wide = randn({3, 4});
  const Tensor view = transpose(wide, 0, 1);
  EXPECT_EQ(floats(step(view)), floats(contiguous(doubled(view))));
}

TEST(CompileFailureTest, AFailedTraceLeavesTheStepUnchanged) {
  bool is_bad = true;
  auto step = neap::compile([&](const Tensor& x) {
    const Tensor y = x + 1.0;
    return is_bad ? full({1}, y.item()) : y;
  });
  EXPECT_THROW(step(zeros({1})), TraceError);
  EXPECT_EQ(step.programs(), 0);
  is_bad = false;
  EXPECT_THAT(floats(step(zeros({1}))), ElementsAre(1));
}

TEST(CompileFailureTest, ACheckOfArgumentsComesBeforeAnyWrite) {
  const Tensor state = zeros({2, 3});
  auto step = neap::compile([&](const Tensor& x, const Tensor& labels) {
    copy_(state, x);
    return cross_entropy(x, labels);
  });
  const Tensor bad = full({2}, 7, i64);
  EXPECT_THROW(step(ones({2, 3}), bad), ValueError);
  EXPECT_THAT(floats(state), ::testing::Each(0.0F));
  step(ones({2, 3}), full({2}, 1, i64));
  EXPECT_THAT(floats(state), ::testing::Each(1.0F));
  EXPECT_THROW(step(zeros({2, 3}), bad), ValueError);
  EXPECT_THAT(floats(state), ::testing::Each(1.0F));
}

TEST(CompileFailureTest, ACheckOfComputedValuesAfterAWriteTearsTheStep) {
  const Tensor state = zeros({2});
  CompileOptions options;
  options.passes.reorder = false;
  auto step = neap::compile(
      [&](const Tensor& x, const Tensor& labels) {
        copy_(state, ones({2}));
        return cross_entropy(x, labels * 2);
      },
      options);
  const Tensor good = full({2}, 1, i64);
  step(ones({2, 3}), good);
  const std::uint32_t version = state.array()->storage()->version();
  EXPECT_THROW(step(ones({2, 3}), full({2}, 3, i64)), TornStep);
  EXPECT_GT(state.array()->storage()->version(), version);
  step(ones({2, 3}), good);
}

TEST(CompileFailureTest, SurvivesAFailureAtAnyRequest) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  const Tensor w = requires_grad_(ones({4, 3}));
  const Tensor state = zeros({3});
  const Tensor x = ones({2, 4});
  const auto plain = [&](const Tensor& in) {
    Tensor loss = sum(square(matmul(in, w)));
    backward(loss);
    copy_(state, sum(w.grad(), {0}));
    return loss;
  };
  const auto result = testing::sweep_allocation_failures(
      *domain,
      [&] {
        auto step = neap::compile(plain);
        step.prepare({tensor::Spec{f32, {2, 4}}});
        EXPECT_EQ(step(x).item(), 2 * 3 * 16.0);
        set_grad(w, {});
      },
      [&](std::int64_t /*n*/) {
        EXPECT_FALSE(w.grad().defined());
        EXPECT_THAT(floats(state), ::testing::Each(0.0F));
      });
  EXPECT_GT(result.failures, 50);
  EXPECT_THAT(result.problems, ::testing::IsEmpty());
}

TEST(CompileFailureTest, OneCallAtATime) {
  Compiled<std::function<Tensor(const Tensor&)>>* self = nullptr;
  auto step =
      neap::compile(std::function<Tensor(const Tensor&)>([&](const Tensor& x) {
        EXPECT_THROW((*self)(ones({1})), ValueError);
        return x + 1.0;
      }));
  self = &step;
  EXPECT_THAT(floats(step(zeros({1}))), ElementsAre(1));
}

}  // namespace
}  // namespace neap::compiler
