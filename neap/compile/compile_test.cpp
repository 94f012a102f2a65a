// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/compile/compile.hpp"

#include <gmock/gmock.h>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/print.hpp"

namespace neap::compiler {
namespace {

using testing::ElementsAre;

TEST(CompileTest, AStepReturnsWhatThePlainFunctionReturns) {
  const Tensor w = randn({3, 2});
  const auto plain = [&](const Tensor& x) { return relu(matmul(x, w)) + 1.0; };
  auto step = neap::compile(plain);
  for (int i = 0; i < 3; ++i) {
    const Tensor x = randn({4, 3});
    EXPECT_EQ(floats(step(x)), floats(plain(x)));
  }
  EXPECT_EQ(step.traces(), 1);
}

TEST(CompileTest, AnotherShapeIsTracedOnceMore) {
  auto step = neap::compile([](const Tensor& x) { return x * 2.0; });
  EXPECT_THAT(floats(step(ones({2}))), ElementsAre(2, 2));
  EXPECT_THAT(floats(step(ones({3}))), ElementsAre(2, 2, 2));
  EXPECT_THAT(floats(step(ones({2}))), ElementsAre(2, 2));
  EXPECT_EQ(step.traces(), 2);
  EXPECT_EQ(step.programs(), 2);
}

TEST(CompileTest, NumbersAreArguments) {
  auto step =
      neap::compile([](const Tensor& x, const Tensor& a) { return x * a; });
  EXPECT_THAT(floats(step(ones({2}), 3)), ElementsAre(3, 3));
  EXPECT_THAT(floats(step(ones({2}), 0.5)), ElementsAre(0.5, 0.5));
  EXPECT_EQ(step.traces(), 1);
}

TEST(CompileTest, ResultsComeInAnyForm) {
  const Tensor x = full({2}, 3.0);
  auto two =
      neap::compile([](const Tensor& a) { return std::pair(a + 1.0, a * a); });
  const auto [sum, square] = two(x);
  EXPECT_THAT(floats(sum), ElementsAre(4, 4));
  EXPECT_THAT(floats(square), ElementsAre(9, 9));
  auto many = neap::compile([](const Tensor& a) {
    memory::Vector<Tensor> out;
    out.push_back(a + 1.0);
    out.push_back(a + 2.0);
    return out;
  });
  EXPECT_THAT(floats(many(x)[1]), ElementsAre(5, 5));
  auto none = neap::compile([&] { copy_(x, x * 2.0); });
  none();
  EXPECT_THAT(floats(x), ElementsAre(6, 6));
  none();
  EXPECT_THAT(floats(x), ElementsAre(12, 12));
}

TEST(CompileTest, ALeafsGradientIsAsAfterAnEagerBackward) {
  const Tensor w = requires_grad_(randn({3}));
  const Tensor x = randn({3});
  auto step = neap::compile([&](const Tensor& a) {
    Tensor loss = sum(square(w * a));
    zero_grad(std::span(&w, 1));
    backward(loss);
    return loss;
  });
  step(x);
  const Tensor compiled = w.grad();
  ASSERT_TRUE(compiled.defined());
  set_grad(w, {});
  backward(sum(square(w * x)));
  EXPECT_EQ(floats(compiled), floats(w.grad()));
}

TEST(CompileTest, AResultThatIsStillHeldMeansNothingAfterTheNextCall) {
  auto step = neap::compile([](const Tensor& x) { return x + 1.0; });
  const Tensor first = step(ones({2}));
  EXPECT_THAT(floats(first), ElementsAre(2, 2));
  const Tensor second = step(zeros({2}));
  EXPECT_THROW(first.item(), UseAfterRelease);
  EXPECT_THROW(format(first), UseAfterRelease);
  EXPECT_THAT(floats(second), ElementsAre(1, 1));
}

TEST(CompileTest, WhatIsKeptMustBeAResult) {
  for (const int number : {-1, 1}) {
    CompileOptions options;
    options.keep.push_back(number);
    auto step = neap::compile([](const Tensor& x) { return x + 1.0; }, options);
    EXPECT_THROW(step(ones({2})), ValueError) << number;
    EXPECT_EQ(step.programs(), 0);
  }
}

TEST(CompileTest, AKeptResultStays) {
  CompileOptions options;
  options.keep.push_back(0);
  auto step = neap::compile([](const Tensor& x) { return x + 1.0; }, options);
  const Tensor first = step(ones({2}));
  const Tensor second = step(zeros({2}));
  EXPECT_THAT(floats(first), ElementsAre(2, 2));
  EXPECT_THAT(floats(second), ElementsAre(1, 1));
}

}  // namespace
}  // namespace neap::compiler
