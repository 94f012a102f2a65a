// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A rematerialised segment ran again with whatever its captured handles meant
// by then: rebound to a constant of the same shape, its gradients were those of
// another function, and nobody said so.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/rematerialise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

Tensor leaf(double value) {
  return requires_grad_(full({4}, value));
}

TEST(SegmentCaptureTest, AConstantThatWasReboundIsNoticed) {
  Tensor captured = full({4}, 2);
  const auto segment = rematerialise(
      [&captured](const Tensor& x) { return exp(mul(x, captured)); });
  const Tensor x = leaf(0.5);
  const Tensor y = segment(x);
  captured = full({4}, 3);
  EXPECT_THROW(backward(sum(y)), GraphError);
}

TEST(SegmentCaptureTest, AParameterThatBecameAConstantIsNoticed) {
  Tensor captured = leaf(2);
  const auto segment = rematerialise(
      [&captured](const Tensor& x) { return exp(mul(x, captured)); });
  const Tensor x = leaf(0.5);
  const Tensor y = segment(x);
  captured = full({4}, 3);
  EXPECT_THROW(backward(sum(y)), GraphError);
}

TEST(SegmentCaptureTest, AnEarlierConstantIsNoticedToo) {
  const Tensor earlier = full({4}, 3);
  Tensor captured = full({4}, 2);
  const auto segment = rematerialise(
      [&captured](const Tensor& x) { return tanh(mul(x, captured)); });
  const Tensor x = leaf(0.5);
  const Tensor y = segment(x);
  captured = earlier;
  EXPECT_THROW(backward(sum(y)), GraphError);
}

TEST(SegmentCaptureTest, AnotherViewOfTheSameElementsIsNoticed) {
  const Tensor both = from_values({1, 2, 3, 4, 5, 6, 7, 8}, {2, 4});
  Tensor captured = select(both, 0, 0);
  const auto segment = rematerialise(
      [&captured](const Tensor& x) { return tanh(mul(x, captured)); });
  const Tensor x = leaf(0.5);
  const Tensor y = segment(x);
  captured = select(both, 0, 1);
  EXPECT_THROW(backward(sum(y)), GraphError);
}

TEST(SegmentCaptureTest, TensorsMadeInsideMayBeNewEachTime) {
  const Tensor scale = full({4}, 2);
  const auto segment = rematerialise([&scale](const Tensor& x) {
    const Tensor made = from_values({1, 2, 3, 4}, {4});
    const Tensor more = mul(add(full({4}, 1), made), scale);
    return exp(mul(mul(x, more), scale.detach()));
  });
  const Tensor x = leaf(0.1);
  backward(sum(segment(x)));
  const Tensor plain = leaf(0.1);
  const Tensor more = from_values({4, 6, 8, 10}, {4});
  backward(sum(exp(mul(mul(plain, more), scale))));
  EXPECT_EQ(x.grad().to_vector(), plain.grad().to_vector());
}

TEST(SegmentCaptureTest, HandlesToTheSameTensorMayChange) {
  Tensor captured = full({4}, 2);
  const auto segment = rematerialise(
      [&captured](const Tensor& x) { return exp(mul(x, captured)); });
  const Tensor x = leaf(0.5);
  const Tensor y = segment(x);
  captured = captured.detach();
  EXPECT_NO_THROW(backward(sum(y)));
}

TEST(SegmentCaptureTest, UndefinedTensorsAreRefusedInsideAndAtTheEdges) {
  const auto plain = rematerialise([](const Tensor& x) { return exp(x); });
  EXPECT_THROW(plain(Tensor()), UseAfterRelease);
  const auto compared = rematerialise(
      [](const Tensor& x) { return mul(x, cast(eq(x, Tensor()), f32)); });
  EXPECT_THROW(compared(leaf(1)), UseAfterRelease);
  const auto nothing = rematerialise([](const Tensor&) { return Tensor(); });
  EXPECT_THROW(nothing(leaf(1)), UseAfterRelease);
}

// The stated exception to "the same bits".
TEST(SegmentCaptureTest, SecondDerivativesRepeatAndAgreeToRounding) {
  const auto second = [](bool in_segments) {
    const Tensor x = requires_grad_(from_values({0.1, 0.7, -0.3, 1.1}, {4}));
    const Tensor w = requires_grad_(from_values({1.3, -0.2, 0.9, 0.4}, {4}));
    const auto block = [&w](const Tensor& h) {
      return tanh(add(mul(mul(h, w), w), exp(mul(h, w))));
    };
    const auto segment = rematerialise(block);
    const Tensor y = in_segments ? segment(segment(x)) : block(block(x));
    const Gradients first = grad(sum(y), {x, w}, {.create_graph = true});
    const Tensor slope =
        add(sum(mul(first[0], first[0])), sum(mul(first[1], first[0])));
    return grad(slope, {w})[0].to_vector();
  };
  const auto plain = second(false);
  const auto once = second(true);
  EXPECT_EQ(once, second(true));
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(once[i], plain[i], 1e-4 * (1 + std::abs(plain[i])));
  }
}

}  // namespace
}  // namespace neap
