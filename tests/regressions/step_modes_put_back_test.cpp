// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A mode that a compiled step sets and puts back was traced at every call, and
// a mode that it leaves set was set in the first call alone.
#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

struct Net : nn::Module {
  nn::Linear body{2, 2, false};
  nn::Linear head{2, 2, false};
  nn::Dropout drop{0.5};
  Net() {
    register_module("body", body);
    register_module("head", head);
    register_module("drop", drop);
  }
  Tensor operator()(const Tensor& x) { return drop(head(tanh(body(x)))); }
};

TEST(StepModesPutBackTest, FrozenAndUnfrozenIsOneProgram) {
  Net net;
  int runs_of_the_step = 0;
  auto step = neap::compile([&](const Tensor& x) {
    ++runs_of_the_step;
    net.body.freeze();
    net.head.zero_grad();
    backward(sum(net(x)));
    net.body.unfreeze();
  });
  for (int i = 0; i < 5; ++i) {
    step(ones({1, 2}));
    EXPECT_TRUE(net.body.weight().requires_grad());
    EXPECT_FALSE(net.body.weight().grad().defined());
    EXPECT_TRUE(net.head.weight().grad().defined());
  }
  EXPECT_LE(step.traces(), 2);  // without gradients at entry, and with them
  EXPECT_LE(runs_of_the_step, 2);
}

TEST(StepModesPutBackTest, EvalAndTrainIsOneProgram) {
  Net net;
  auto step = neap::compile([&](const Tensor& x) {
    net.eval();
    Tensor y = net(x);
    net.train();
    return y;
  });
  for (int i = 0; i < 5; ++i) {
    step(ones({1, 2}));
    EXPECT_TRUE(net.is_training());
  }
  EXPECT_EQ(step.traces(), 1);
  net.eval();
  step(ones({1, 2}));
  EXPECT_TRUE(net.is_training());
  EXPECT_THAT(step.why(), HasSubstr("train"));
  EXPECT_EQ(step.traces(), 2);
}

// A training step that begins with train(), between evaluations, does so.
TEST(StepModesPutBackTest, AModeThatTheStepLeavesSetIsSetByEveryRun) {
  Net net;
  auto step = neap::compile([&](const Tensor& x) {
    net.train();
    return net(x);
  });
  for (int i = 0; i < 4; ++i) {
    net.eval();
    step(ones({1, 2}));
    EXPECT_TRUE(net.is_training()) << i;
  }
  EXPECT_EQ(step.traces(), 1);
}

TEST(StepModesPutBackTest, ALeafThatTheStepFreezesIsFrozenByEveryRun) {
  const Tensor w = requires_grad_(ones({2}));
  auto step = neap::compile([&](const Tensor& x) {
    requires_grad_(w, false);
    return x * w;
  });
  for (int i = 0; i < 3; ++i) {
    requires_grad_(w, true);
    step(ones({2}));
    EXPECT_FALSE(w.requires_grad()) << i;
  }
  EXPECT_EQ(step.traces(), 1);
}

TEST(StepModesPutBackTest, ATraceThatFailsPutsModesBack) {
  Net net;
  auto step = neap::compile([&](const Tensor& x) {
    net.eval();
    net.body.freeze();
    return full({2}, x.item());
  });
  EXPECT_THROW(step(ones({1})), TraceError);
  EXPECT_TRUE(net.is_training());
  EXPECT_TRUE(net.body.weight().requires_grad());
}

}  // namespace
}  // namespace neap::compiler
