// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A value inside a rematerialised segment got a gradient of zeros, or none,
// where the plain function's has one: the value is computed again in the
// backward, and the handle of the forward leads nowhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/rematerialise.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/watch.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::ThrowsMessage;

class SegmentInnerTest : public testing::Test {
 protected:
  Tensor square_twice(const Tensor& a) {
    Tensor y = mul(a, a);
    if (!inner_.defined()) {
      inner_ = y;
    }
    return mul(y, y);
  }

  Tensor inner_;
  Tensor w_ = requires_grad_(full({2}, 2));
};

TEST_F(SegmentInnerTest, GradOfAnInnerValueIsRefused) {
  const auto f =
      rematerialise([this](const Tensor& a) { return square_twice(a); });
  const Tensor r = sum(f(w_));
  const auto refusal = ThrowsMessage<GraphError>(
      AllOf(HasSubstr("grad: input 0"), HasSubstr("inside"),
            HasSubstr("return it from the function")));
  EXPECT_THAT(
      [&] { grad(r, {inner_}, {.unused = GradOptions::Unused::kZeros}); },
      refusal);
  EXPECT_THAT([&] { grad(r, {inner_}); }, refusal);
  backward(r);  // nothing was consumed
  EXPECT_EQ(w_.grad().at({0}), 32.0);
}

TEST_F(SegmentInnerTest, ToKeepAnInnerGradientIsRefused) {
  const auto f = rematerialise([](const Tensor& a) {
    const Tensor y = mul(a, a);
    retain_grad(y);
    return mul(y, y);
  });
  EXPECT_THAT([&] { f(w_); }, ThrowsMessage<GraphError>(AllOf(
                                  HasSubstr("retain_grad"), HasSubstr("inside"),
                                  HasSubstr("return it from the function"))));
}

TEST_F(SegmentInnerTest, ToKeepAnInnerGradientAfterwardsIsRefused) {
  const auto f =
      rematerialise([this](const Tensor& a) { return square_twice(a); });
  const Tensor r = sum(f(w_));
  EXPECT_THROW(retain_grad(inner_), GraphError);
  backward(r);
  EXPECT_EQ(w_.grad().at({1}), 32.0);
}

TEST_F(SegmentInnerTest, AHookOnAnInnerValueAfterwardsIsRefused) {
  const auto f =
      rematerialise([this](const Tensor& a) { return square_twice(a); });
  const Tensor r = sum(f(w_));
  const auto keep = [](const Tensor& g) { return g; };
  EXPECT_THAT([&] { register_hook(inner_, keep); },
              ThrowsMessage<GraphError>(
                  AllOf(HasSubstr("register_hook"), HasSubstr("inside"),
                        HasSubstr("return it from the function"))));
  backward(r);
  EXPECT_EQ(w_.grad().at({0}), 32.0);
}

TEST_F(SegmentInnerTest, AHookThatTheFunctionRegistersIsCalled) {
  int calls = 0;
  const auto f = rematerialise([&calls](const Tensor& a) {
    const Tensor y = mul(a, a);
    register_hook(y, [&calls](const Tensor& g) {
      ++calls;
      return mul(g, 2.0);
    });
    return mul(y, y);
  });
  backward(sum(f(w_)));
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(w_.grad().at({0}), 64.0);
}

TEST_F(SegmentInnerTest, AResultOfTheSegmentKeepsItsGradient) {
  const auto f = rematerialise([](const Tensor& a) {
    const Tensor y = mul(a, a);
    return std::pair(y, mul(y, y));
  });
  const auto [y, z] = f(w_);
  retain_grad(y);
  const Tensor r = sum(z);
  backward(r, {.retain_graph = true});
  EXPECT_FALSE(y.grad().defined());  // z does not depend on the result y
  EXPECT_EQ(w_.grad().at({0}), 32.0);
  const Tensor both = sum(mul(y, z));
  EXPECT_EQ(grad(both, {y})[0].at({0}), 16.0);
}

TEST_F(SegmentInnerTest, AWatchedLayerInsideASegmentRunsAsEver) {
  nn::Linear linear(2, 2);
  const nn::Watch watch(linear);
  const auto f = rematerialise(
      [&linear](const Tensor& a) { return mul(linear(a), linear(a)); });
  backward(sum(f(requires_grad_(full({1, 2}, 0.5)))));
  EXPECT_TRUE(linear.parameter("weight").grad().defined());
}

}  // namespace
}  // namespace neap
