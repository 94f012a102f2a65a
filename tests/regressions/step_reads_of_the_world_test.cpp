// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// State outside a compiled step that it reads, and that changes between two
// calls: hooks, precision, modes of leaves, settings of an optimizer.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/optim/adam.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class StepReadsOfTheWorldTest : public ::testing::Test {
 protected:
  Tensor w_ = requires_grad_(full({2}, 3.0));
  Tensor x_ = ones({2});
};

TEST_F(StepReadsOfTheWorldTest, HooksAddedAndRemovedAreNoticed) {
  auto step = neap::compile([&](const Tensor& x) {
    set_grad(w_, {});
    backward(sum(w_ * x));
  });
  step(x_);
  EXPECT_THAT(floats(w_.grad()), Each(1.0F));
  HookHandle hook = register_hook(w_, [](const Tensor& g) { return g * 10.0; });
  step(x_);
  EXPECT_THAT(floats(w_.grad()), Each(10.0F));
  EXPECT_THAT(step.why(), HasSubstr("hooks"));
  hook.remove();
  step(x_);
  EXPECT_THAT(floats(w_.grad()), Each(1.0F));
}

TEST_F(StepReadsOfTheWorldTest, AHookOfTheStepsOwnIsNoNewTrace) {
  auto step = neap::compile([&](const Tensor& x) {
    set_grad(w_, {});
    HookHandle hook =
        register_hook(w_, [](const Tensor& g) { return g * 2.0; });
    backward(sum(w_ * x));
    hook.remove();
  });
  for (int i = 0; i < 4; ++i) {
    step(x_);
    EXPECT_THAT(floats(w_.grad()), Each(2.0F));
  }
  EXPECT_EQ(step.traces(), 1);
}

TEST_F(StepReadsOfTheWorldTest, ThePrecisionOfTheCallIsNoticed) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const Tensor a = randn({16, 32});
  const Tensor b = randn({32, 16});
  const auto plain = [&](const Tensor& x) { return matmul(x, b); };
  auto step = neap::compile(plain);
  const std::vector<float> f32_bits = floats(plain(a));
  EXPECT_EQ(floats(step(a)), f32_bits);
  {
    const UsePrecision bf16(Precision::kBf16);
    EXPECT_EQ(floats(step(a)), floats(plain(a)));
    EXPECT_NE(floats(step(a)), f32_bits);
  }
  EXPECT_EQ(floats(step(a)), f32_bits);
  EXPECT_EQ(step.traces(), 2);
}

TEST_F(StepReadsOfTheWorldTest, WhetherATensorRequiresAGradientIsAGuard) {
  Tensor plain = ones({2});
  auto step = neap::compile([&](const Tensor& x) {
    return plain.requires_grad() ? x * 2.0 : x * 3.0;
  });
  EXPECT_THAT(floats(step(x_)), Each(3.0F));
  requires_grad_(plain);
  EXPECT_THAT(floats(step(x_)), Each(2.0F));
  requires_grad_(plain, false);
  EXPECT_THAT(floats(step(x_)), Each(3.0F));
}

TEST_F(StepReadsOfTheWorldTest, ACapturedTensorThatBecomesALeafIsNoticed) {
  Tensor v = full({2}, 2.0);
  auto step = neap::compile([&](const Tensor& x) {
    set_grad(w_, {});
    backward(sum(w_ * v * x));
  });
  step(x_);
  requires_grad_(v);
  step(x_);
  ASSERT_TRUE(v.grad().defined());
  EXPECT_THAT(floats(v.grad()), Each(3.0F));
}

TEST_F(StepReadsOfTheWorldTest, SettingsOfAnOptimizerAreRefused) {
  optim::SGD sgd({{"w", w_, {}}}, {.lr = 0.5});
  const auto refused = [&](auto read) {
    auto step = neap::compile([&](const Tensor& x) { return x * read(); });
    return message_of([&] { step(x_); });
  };
  EXPECT_THAT(refused([&] { return sgd.lr(); }), HasSubstr("lr: read inside"));
  EXPECT_THAT(refused([&] { return static_cast<double>(sgd.step_count()); }),
              HasSubstr("step_count: read inside"));
  EXPECT_THAT(refused([&] { return sgd.options().lr; }),
              HasSubstr("options: read inside"));
  EXPECT_EQ(sgd.lr(), 0.5);
}

TEST_F(StepReadsOfTheWorldTest, AGroupThatIsAddedIsNoticed) {
  optim::SGD sgd({{"w", w_, {}}}, {.lr = 0.5});
  auto groups = neap::compile([&](const Tensor& x) {
    return x * static_cast<double>(sgd.group_count());
  });
  auto elements = neap::compile([&](const Tensor& x) {
    Tensor all = zeros_like(x);
    for (const Parameter& parameter : sgd.parameters()) {
      all = all + parameter.tensor.detach();
    }
    return all;
  });
  EXPECT_THAT(floats(groups(x_)), Each(1.0F));
  EXPECT_THAT(floats(elements(x_)), Each(3.0F));
  sgd.add_group({{"v", requires_grad_(full({2}, 4.0)), {}}}, {.lr = 0.5});
  EXPECT_THAT(floats(groups(x_)), Each(2.0F));
  EXPECT_THAT(floats(elements(x_)), Each(7.0F));
  EXPECT_EQ(groups.traces(), 2);
}

TEST_F(StepReadsOfTheWorldTest, ANumberOfTheHostsIsFoundByVerify) {
  int calls = 0;
  auto step = neap::compile([&](const Tensor& x) { return x * ++calls + 1.0; },
                            {.verify = 2});
  step(x_);
  step(x_);
  EXPECT_THAT(message_of([&] { step(x_); }),
              HasSubstr("call 0, fill at step_reads_of_the_world_test.cpp"));
  EXPECT_EQ(calls, 2);
  EXPECT_THAT(floats(step(x_)), Each(4.0F));
}

TEST_F(StepReadsOfTheWorldTest, VerifyFindsNothingInAStepThatDoesTheSame) {
  optim::Adam adam({{"w", w_, {}}}, {.lr = 0.1});
  Tensor h = zeros({2});
  int runs_of_the_step = 0;
  auto step = neap::compile(
      [&](const Tensor& x) {
        ++runs_of_the_step;
        h = h * 0.5 + dropout(x, 0.5) * from_values({1, 2}, {2});
        const Tensor loss = sum(w_ * h);
        backward(loss);
        adam.step();
        adam.zero_grad();
        return loss;
      },
      {.verify = 1});
  for (int i = 0; i < 5; ++i) {
    step(x_);
  }
  EXPECT_GE(runs_of_the_step, 5);
}

TEST_F(StepReadsOfTheWorldTest, WhyNamesTheArgument) {
  auto step = neap::compile([](const Tensor& x) { return x + 1.0; });
  EXPECT_EQ(step.why(), "");
  step(x_);
  EXPECT_EQ(step.why(), "the first call");
  step(ones({3}));
  EXPECT_EQ(step.why(), "argument 0 is f32 [3], was f32 [2]");
  {
    const NoGrad none;
    step(ones({3}));
  }
  EXPECT_THAT(step.why(), HasSubstr("NoGrad"));
}

TEST_F(StepReadsOfTheWorldTest, AStepThatWasMovedFromIsATypedError) {
  auto step = neap::compile([](const Tensor& x) { return x + 1.0; });
  auto other = std::move(step);
  EXPECT_THAT(floats(other(x_)), Each(2.0F));
  EXPECT_THROW(step(x_), UseAfterRelease);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(step.reset(), UseAfterRelease);
  EXPECT_THROW(static_cast<void>(step.traces()), UseAfterRelease);
}

}  // namespace
}  // namespace neap::compiler
