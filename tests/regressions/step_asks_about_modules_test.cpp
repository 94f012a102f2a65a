// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that asked how many parameters or buffers a module has, or whether it
// has one of a name, went on with the answer of its trace after the module was
// extended.
#include <gmock/gmock.h>

#include "neap/compile/compile_for_test.hpp"
#include "neap/nn/batch_norm.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;

struct Growing : nn::Module {
  Growing() { register_module("fc", fc); }
  void grow() {
    register_module("norm", norm);
    scale = register_parameter("scale", full({2}, 1.0));
  }

  nn::Linear fc{2, 2};
  nn::BatchNorm1d norm{2};
  Tensor scale;
};

// The first answer is false, and true is that of the module that has grown.
template <class Ask>
void expect_guard(const Ask& ask) {
  Growing module;
  auto step = neap::compile(
      [&](const Tensor& x) { return ask(module) ? x * 2.0 : x * 3.0; });
  const Tensor x = full({2}, 1.0);
  EXPECT_THAT(floats(step(x)), Each(3.0F));
  EXPECT_THAT(floats(step(x)), Each(3.0F));
  EXPECT_EQ(step.traces(), 1);
  module.grow();
  EXPECT_THAT(floats(step(x)), Each(2.0F));
}

TEST(StepAsksAboutModulesTest, WhatAModuleHasIsAGuard) {
  expect_guard([](const Growing& m) { return m.parameter_count() > 6; });
  expect_guard([](const Growing& m) { return m.parameter_bytes() > 24; });
  expect_guard([](const Growing& m) { return m.has_parameter("scale"); });
  expect_guard([](const Growing& m) { return !m.buffers().empty(); });
  expect_guard([](const Growing& m) { return m.parameters().size() > 2; });
}

TEST(StepAsksAboutModulesTest, WhichLayersAModelHasIsAGuard) {
  nn::Sequential net{nn::ReLU(), nn::Tanh()};
  auto step = neap::compile(
      [&](const Tensor& x) { return net.size() > 2 ? x * 2.0 : x * 3.0; });
  const Tensor x = full({2}, 1.0);
  EXPECT_THAT(floats(step(x)), Each(3.0F));
  net.push(nn::ReLU());
  EXPECT_THAT(floats(step(x)), Each(2.0F));
}

}  // namespace
}  // namespace neap::compiler
