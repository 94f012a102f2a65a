// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tensors that a step captured, and that mean others by the next call.
#include <gmock/gmock.h>

#include <algorithm>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

struct Pair : nn::Module {
  nn::Linear a{3, 3, false};
  nn::Linear b{3, 3, false};
  Pair() {
    register_module("a", a);
    register_module("b", b);
  }
  Tensor operator()(const Tensor& x) { return b(tanh(a(x))); }
};

// A step of plain descent, without an optimizer.
template <class Net>
auto descent(Net& net) {
  return [&net](const Tensor& x) {
    Tensor loss = sum(square(net(x)));
    backward(loss);
    const NoGrad none;
    for (const Parameter& parameter : net.parameters()) {
      sub_(parameter.tensor, parameter.tensor.grad() * 0.125);
      set_grad(parameter.tensor, {});
    }
    return loss;
  };
}

TEST(CompileReboundTest, ATiedParameterIsNoticed) {
  seed(1);
  Pair plain;
  seed(1);
  Pair compiled;
  auto step = neap::compile(descent(compiled));
  const Tensor x = ones({2, 3});
  for (int i = 0; i < 4; ++i) {
    if (i == 2) {
      plain.tie("b.weight", plain.a.weight());
      compiled.tie("b.weight", compiled.a.weight());
    }
    EXPECT_EQ(floats(step(x)), floats(descent(plain)(x))) << i;
    EXPECT_EQ(floats(compiled.a.weight()), floats(plain.a.weight())) << i;
  }
  EXPECT_EQ(step.traces(), 2);
  EXPECT_EQ(step.programs(), 1);  // the one before the tie is gone
}

TEST(CompileReboundTest, ALayerThatWasAssignedOverIsNoticed) {
  Pair net;
  auto step = neap::compile([&](const Tensor& x) { return net(x); });
  const Tensor x = ones({2, 3});
  step(x);
  net.a = nn::Linear(3, 3, false);
  EXPECT_EQ(floats(step(x)), floats(net(x)));
  EXPECT_EQ(step.traces(), 2);
}

// Its mode is all that the step knows of it, and goes with the old layer.
TEST(CompileReboundTest, ALayerWithAModeThatWasAssignedOverIsNoticed) {
  struct Net : nn::Module {
    nn::Dropout drop{0.25};
    Net() { register_module("drop", drop); }
  } net;
  auto step = neap::compile([&](const Tensor& x) { return net.drop(x); });
  const Tensor x = ones({64});
  step(x);
  net.drop = nn::Dropout(0.75);
  const std::vector<float> seen = floats(step(x));
  EXPECT_EQ(*std::max_element(seen.begin(), seen.end()), 4.0F);
  EXPECT_EQ(step.traces(), 2);
}

TEST(CompileReboundTest, ACapturedTensorThatWasAssignedOverIsNoticed) {
  Tensor scale = full({2}, 2.0);
  auto step = neap::compile([&](const Tensor& x) { return x * scale; });
  EXPECT_THAT(floats(step(ones({2}))), Each(2.0F));
  scale = full({2}, 3.0);
  EXPECT_THAT(floats(step(ones({2}))), Each(3.0F));
  EXPECT_EQ(step.traces(), 2);
}

TEST(CompileReboundTest, WhatAProgramHeldOfTheOldOneGoes) {
  const auto domain = Domain::create();
  const UseDomain use(*domain);
  Tensor scale = full({1000}, 2.0);
  auto step = neap::compile([&](const Tensor& x) { return sum(x * scale); });
  step(ones({1000}));
  step(ones({1000}));
  const Bytes live = domain->stats().live;
  for (int i = 0; i < 5; ++i) {
    scale = full({1000}, 3.0);
    step(ones({1000}));
  }
  EXPECT_LE(domain->stats().live, live + kKiB);
}

// A handle that lives for a line of the step says nothing when it goes.
TEST(CompileReboundTest, AHandleOfTheStepsOwnIsNone) {
  const Tensor w = requires_grad_(ones({2}));
  auto step = neap::compile(
      [&](const Tensor& x) { return x * w.detach() + narrow(w, 0, 0, 1); });
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(floats(step(ones({2}))), ElementsAre(2, 2));
  }
  EXPECT_EQ(step.traces(), 1);
}

}  // namespace
}  // namespace neap::compiler
