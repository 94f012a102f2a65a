// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/functional.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <thread>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/trigonometry.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using Inputs = std::span<const Tensor>;

// Every test runs in a domain of its own and ends with nothing live.
class FunctionalTest : public testing::Test {
 protected:
  ~FunctionalTest() override { EXPECT_EQ(domain_->stats().live, 0); }
  static Tensor number(double value) { return scalar(value, f64); }
  static Tensor leaf(double value) { return requires_grad_(number(value)); }
  static Tensor vector(std::initializer_list<double> values) {
    return from_values(values, {static_cast<std::int64_t>(values.size())}, f64);
  }
  static void expect_near(const Tensor& got, const Shape& shape,
                          std::initializer_list<double> wanted) {
    EXPECT_EQ(got.shape(), shape);
    const auto values = got.to_vector();
    ASSERT_EQ(values.size(), wanted.size());
    std::size_t i = 0;
    for (const double value : wanted) {
      EXPECT_NEAR(values[i++], value, 1e-12);
    }
  }
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

// sum of x^3: gradient 3 x^2, second derivatives 6 x on the diagonal.
Tensor cubes(const Tensor& x) {
  return sum(mul(x, square(x)));
}

TEST_F(FunctionalTest, JvpReturnsValueAndTangentOfOneInput) {
  const auto [value, tangent] = jvp(cubes, vector({1, 2}), vector({1, 10}));
  EXPECT_EQ(value.item(), 9.0);
  EXPECT_EQ(tangent.item(), 3.0 + 120.0);
  EXPECT_FALSE(tangent.requires_grad());
}

TEST_F(FunctionalTest, JvpOfSeveralResultsIsOnePass) {
  int calls = 0;
  const std::array in = {number(2.0), number(3.0)};
  const std::array along = {number(1.0), Tensor()};
  const auto f = [&](Inputs x) {
    ++calls;
    Tensors out;
    out.push_back(mul(x[0], x[1]));
    out.push_back(square(x[0]));
    out.push_back(neg(x[1]));
    return out;
  };
  const JvpResults r = jvp(f, in, along);
  EXPECT_EQ(calls, 1);
  EXPECT_EQ(r.values[0].item(), 6.0);
  EXPECT_EQ(r.tangents[0].item(), 3.0);
  EXPECT_EQ(r.tangents[1].item(), 4.0);
  EXPECT_EQ(r.tangents[2].item(), 0.0);
}

TEST_F(FunctionalTest, JvpRefusesTangentsThatFitNoPrimal) {
  const Tensor x = vector({1, 2});
  EXPECT_THROW(jvp(cubes, x, vector({1})), ShapeError);
  EXPECT_THROW(jvp(cubes, x, ones({2}, f32)), DTypeError);
  const auto f = [](Inputs in) { return in[0]; };
  EXPECT_THROW(jvp(f, std::span(&x, 1), {}), ShapeError);
}

TEST_F(FunctionalTest, VjpPullsBackAsOftenAsWanted) {
  const Tensor x = vector({1, 2});
  const auto [value, pullback] =
      vjp([](const Tensor& in) { return square(in); }, x);
  expect_near(value, {2}, {1, 4});
  EXPECT_FALSE(value.requires_grad());
  for (const double scale : {1.0, 10.0}) {
    const Gradients g = pullback(full({2}, scale, f64));
    expect_near(g[0], {2}, {2 * scale, 4 * scale});
    EXPECT_FALSE(g[0].requires_grad());
  }
  EXPECT_THROW(pullback(vector({1})), ShapeError);
  EXPECT_THROW(Pullback()(x), GraphError);
}

TEST_F(FunctionalTest, VjpOfSeveralResultsTakesACotangentEach) {
  const std::array in = {leaf(2.0), leaf(3.0), leaf(5.0)};
  const auto f = [](Inputs x) {
    Tensors out;
    out.push_back(mul(x[0], x[1]));
    out.push_back(square(x[0]));
    return out;
  };
  const VjpResults r = vjp(f, in);
  const std::array both = {number(1.0), number(1.0)};
  const std::array second = {Tensor(), number(1.0)};
  const Gradients g = r.pullback(both);
  EXPECT_EQ(g.get(in[0]).item(), 3.0 + 4.0);
  EXPECT_EQ(g.get(in[1]).item(), 2.0);
  EXPECT_EQ(g.get(in[2]).item(), 0.0);  // f does not use it
  EXPECT_EQ(r.pullback(second)[1].item(), 0.0);
  EXPECT_THROW(r.pullback(number(1.0)), ShapeError);
}

TEST_F(FunctionalTest, LeavesThePrimalsAndTheirGradientsAlone) {
  const Tensor x = leaf(3.0);
  const Tensor frozen = requires_grad_(leaf(2.0), false);
  const auto f = [](Inputs in) { return mul(square(in[0]), in[1]); };
  const std::array in = {x, frozen};
  const std::array along = {number(1.0), number(0.0)};
  hvp(f, in, along);
  vjp(f, in).pullback(number(1.0));
  EXPECT_FALSE(x.grad().defined());
  EXPECT_FALSE(frozen.requires_grad());
}

TEST_F(FunctionalTest, WorksUnderNoGradAndWithNoGradInside) {
  const NoGrad outside;
  const Tensor x = leaf(3.0);
  EXPECT_EQ(vjp(cubes, x).pullback(number(1.0))[0].item(), 27.0);
  EXPECT_EQ(hvp(cubes, x, number(1.0)).product.item(), 18.0);
  const auto half_constant = [](const Tensor& in) {
    Tensor constant;
    {
      const NoGrad inside;
      constant = square(in);
    }
    return mul(constant, in);
  };
  EXPECT_EQ(vjp(half_constant, x).pullback(number(1.0))[0].item(), 9.0);
  // To forward mode NoGrad means nothing, as everywhere in the field.
  EXPECT_EQ(jvp(half_constant, x, number(1.0)).tangent.item(), 27.0);
}

TEST_F(FunctionalTest, HvpIsTheProductWithTheHessian) {
  const Tensor x = vector({1, 2});
  const HvpResult r = hvp(cubes, x, vector({1, 10}));
  EXPECT_EQ(r.value.item(), 9.0);
  expect_near(r.gradient, {2}, {3, 12});
  expect_near(r.product, {2}, {6, 120});
  EXPECT_FALSE(r.product.requires_grad());
  const auto many = [](const Tensor& in) { return square(in); };
  EXPECT_THROW(hvp(many, x, vector({1, 1})), ShapeError);
}

TEST_F(FunctionalTest, HvpOfAConstantIsZero) {
  const Tensor c = number(4.0);
  const HvpResult r =
      hvp([&](const Tensor&) { return c; }, vector({1, 2}), vector({1, 1}));
  expect_near(r.gradient, {2}, {0, 0});
  expect_near(r.product, {2}, {0, 0});
}

TEST_F(FunctionalTest, HvpCanBeDifferentiatedAgain) {
  const Tensor x = leaf(2.0);
  const auto quartic = [](const Tensor& in) { return square(square(in)); };
  const HvpResult r =
      hvp(quartic, x, number(1.0), {.create_graph = true});  // 12 x^2
  EXPECT_EQ(r.product.item(), 48.0);
  EXPECT_EQ(grad(r.product, {x})[0].item(), 48.0);  // 24 x
}

TEST_F(FunctionalTest, JacobianIsTheSameByRowsAndByColumns) {
  const Tensor x = from_values({1, 2, 3, 4}, {2, 2}, f64);
  const auto f = [](const Tensor& in) { return sum(square(in), {1}); };
  for (const JacobianMode mode :
       {JacobianMode::kAuto, JacobianMode::kForward, JacobianMode::kReverse}) {
    expect_near(jacobian(f, x, {.mode = mode}), {2, 2, 2},
                {2, 4, 0, 0, 0, 0, 6, 8});
  }
}

TEST_F(FunctionalTest, JacobianTakesTheCheaperSide) {
  int calls = 0;
  const auto wide = [&](const Tensor& x) {
    ++calls;
    return mul(x, ones({5}, f64));
  };
  expect_near(jacobian(wide, number(2.0)), {5}, {1, 1, 1, 1, 1});
  EXPECT_EQ(calls, 2);  // to learn the size, and one column
  calls = 0;
  const auto tall = [&](const Tensor& x) {
    ++calls;
    return sum(x);
  };
  expect_near(jacobian(tall, ones({3}, f64)), {3}, {1, 1, 1});
  EXPECT_EQ(calls, 1);
}

TEST_F(FunctionalTest, JacobianHasAPartForEachPrimal) {
  const std::array in = {vector({1, 2}), number(3.0)};
  const auto f = [](Inputs x) { return mul(x[0], x[1]); };
  for (const JacobianMode mode :
       {JacobianMode::kForward, JacobianMode::kReverse}) {
    const Tensors j = jacobian(f, in, {.mode = mode});
    expect_near(j[0], {2, 2}, {3, 0, 0, 3});
    expect_near(j[1], {2}, {1, 2});
  }
}

TEST_F(FunctionalTest, JacobianOfNothingHasNoElements) {
  const auto f = [](const Tensor& x) { return square(x); };
  for (const JacobianMode mode :
       {JacobianMode::kAuto, JacobianMode::kForward, JacobianMode::kReverse}) {
    EXPECT_EQ(jacobian(f, zeros({0}, f64), {.mode = mode}).shape(),
              Shape({0, 0}));
  }
}

TEST_F(FunctionalTest, JacobianCanBeDifferentiated) {
  const Tensor x = requires_grad_(vector({1, 2}));
  for (const JacobianMode mode :
       {JacobianMode::kForward, JacobianMode::kReverse}) {
    const Tensor j = jacobian([](const Tensor& in) { return square(in); }, x,
                              {.mode = mode, .create_graph = true});
    expect_near(grad(sum(j), {x})[0], {2}, {2, 2});
    EXPECT_FALSE(
        jacobian([](const Tensor& in) { return square(in); }, x, {.mode = mode})
            .requires_grad());
  }
}

TEST_F(FunctionalTest, HessianHasAllSecondDerivatives) {
  const auto f = [](const Tensor& x) { return sum(mul(x, exp(x))); };
  const double at1 = 3 * std::exp(1.0);  // (x + 2) e^x
  expect_near(hessian(f, vector({0, 1})), {2, 2}, {2, 0, 0, at1});
  const std::array in = {number(2.0), vector({1, 3})};
  const auto g = [](Inputs x) { return sum(mul(square(x[0]), x[1])); };
  const memory::Vector<Tensors> h = hessian(g, in);
  expect_near(h[0][0], {}, {8});
  expect_near(h[0][1], {2}, {4, 4});
  expect_near(h[1][0], {2}, {4, 4});
  expect_near(h[1][1], {2, 2}, {0, 0, 0, 0});
}

TEST_F(FunctionalTest, DirectionalDerivativesHaveAnyOrder) {
  const auto f = [](const Tensor& x) { return sin(x); };
  const Tensor x = number(0.5);
  const Tensor one = number(1.0);
  EXPECT_EQ(directional_derivative(f, x, {}).item(), std::sin(0.5));
  EXPECT_NEAR(directional_derivative(f, x, {one}).item(), std::cos(0.5), 1e-15);
  EXPECT_NEAR(directional_derivative(f, x, {one, one}).item(), -std::sin(0.5),
              1e-15);
  EXPECT_NEAR(directional_derivative(f, x, {one, one, one, one}).item(),
              std::sin(0.5), 1e-15);
}

// D4: mixed partials, seeded by directions.
TEST_F(FunctionalTest, MixedPartialsOfSeveralInputs_D4) {
  const std::array in = {number(2.0), number(3.0)};
  const std::array by_x = {number(1.0), Tensor()};
  const std::array by_t = {Tensor(), number(1.0)};
  const auto f = [](Inputs p) { return mul(square(p[0]), square(p[1])); };
  const std::array<Inputs, 2> xt = {by_x, by_t};
  const std::array<Inputs, 2> tx = {by_t, by_x};
  const std::array<Inputs, 3> xxt = {by_x, by_x, by_t};
  EXPECT_EQ(directional_derivative(f, in, xt).item(), 24.0);  // 4 x t
  EXPECT_EQ(directional_derivative(f, in, tx).item(), 24.0);
  EXPECT_EQ(directional_derivative(f, in, xxt).item(), 12.0);  // 4 t
}

// --- nesting ---

TEST_F(FunctionalTest, InnerTangentsAreNotConfusedWithOuterOnes) {
  // d/dx (x . d/dy (x + y)) = 1: 2 where the two passes are mixed up.
  const auto outer = [](const Tensor& x) {
    const auto inner = [&x](const Tensor& y) { return add(x, y); };
    return mul(x, jvp(inner, scalar(1.0, f64), scalar(1.0, f64)).tangent);
  };
  EXPECT_EQ(jvp(outer, number(1.0), number(1.0)).tangent.item(), 1.0);
}

TEST_F(FunctionalTest, OuterTangentsPassThroughInnerPrimals) {
  // x is moved by both: the derivative of 3 x^2 is 6 x.
  const auto slope = [](const Tensor& x) {
    return jvp(cubes, x, ones_like(x)).tangent;
  };
  EXPECT_EQ(jvp(slope, number(2.0), number(1.0)).tangent.item(), 12.0);
  const auto gradient = [](const Tensor& x) {
    return vjp(cubes, x).pullback(scalar(1.0, f64))[0];
  };
  EXPECT_EQ(jvp(gradient, number(2.0), number(1.0)).tangent.item(), 12.0);
  const auto product = [](const Tensor& x) {
    return hvp(cubes, x, ones_like(x)).product;
  };
  EXPECT_EQ(jvp(product, number(2.0), number(1.0)).tangent.item(), 6.0);
  const auto matrix = [](const Tensor& x) { return hessian(cubes, x); };
  EXPECT_EQ(jvp(matrix, number(2.0), number(1.0)).tangent.item(), 6.0);
}

// D5: reverse over a forward-built derivative.
TEST_F(FunctionalTest, ReverseOverForwardTrainsOnAResidual_D5) {
  // u(x) = tanh(w x); the loss is (u'')^2 with u'' = -2 w^2 t (1 - t^2).
  const Tensor w = leaf(0.7);
  const Tensor x = number(0.3);
  const Tensor one = number(1.0);
  const auto u = [&](const Tensor& at) { return tanh(mul(w, at)); };
  const auto loss = [&] {
    return square(directional_derivative(u, x, {one, one}));
  };
  backward(loss());
  const double got = w.grad().item();
  const auto by_hand = [](double v) {
    const double t = std::tanh(v * 0.3);
    const double second = -2 * v * v * t * (1 - t * t);
    return second * second;
  };
  const double h = 1e-5;
  EXPECT_NEAR(got, (by_hand(0.7 + h) - by_hand(0.7 - h)) / (2 * h), 1e-9);
}

TEST_F(FunctionalTest, ThreeLevelsInEveryOrderGiveTheThirdDerivative) {
  const auto f = [](const Tensor& x) { return mul(exp(x), sin(x)); };
  const auto forward = [](autograd::Function g) {
    return [g](const Tensor& x) { return jvp(g, x, ones_like(x)).tangent; };
  };
  const auto reverse = [](autograd::Function g) {
    return [g](const Tensor& x) {
      return vjp(g, x, {.create_graph = true})
          .pullback(scalar(1.0, f64))
          .take(0);
    };
  };
  const double x = 0.4;
  const double wanted = 2 * std::exp(x) * (std::cos(x) - std::sin(x));
  for (int order = 0; order < 8; ++order) {
    const auto pick = [&](int level, autograd::Function g, const Tensor& at) {
      return (order >> level & 1) != 0 ? forward(g)(at) : reverse(g)(at);
    };
    const auto first = [&](const Tensor& at) { return pick(0, f, at); };
    const auto second = [&](const Tensor& at) { return pick(1, first, at); };
    const auto third = [&](const Tensor& at) { return pick(2, second, at); };
    EXPECT_NEAR(third(number(x)).item(), wanted, 1e-12) << "order " << order;
  }
}

TEST_F(FunctionalTest, AScopeInsideTakesNoTangentOfWhatItKeeps) {
  const auto f = [](const Tensor& x) {
    memory::Scope scope;
    const Tensor y = square(x);
    scope.move_to_outer(y);
    return y;
  };
  EXPECT_EQ(jvp(f, number(3.0), number(1.0)).tangent.item(), 6.0);
  EXPECT_EQ(vjp(f, number(3.0)).pullback(number(1.0))[0].item(), 6.0);
  Pullback pullback;
  {
    const memory::Scope around;
    pullback = vjp(cubes, number(2.0)).pullback;
  }
  EXPECT_EQ(pullback(number(1.0))[0].item(), 12.0);
}

TEST_F(FunctionalTest, PassesOfSeveralThreadsOverOneTensorAreApart) {
  const Tensor x = number(2.0);
  const auto run = [&](double along) {
    const UseDomain here(*domain_);
    for (int i = 0; i < 200; ++i) {
      const auto f = [&](const Tensor& in) { return mul(cubes(in), x); };
      EXPECT_EQ(jvp(f, x, number(along)).tangent.item(), 24.0 * along);
    }
  };
  std::thread one(run, 1.0);
  std::thread two(run, 2.0);
  one.join();
  two.join();
}

TEST_F(FunctionalTest, BackwardInsideAJvpAccumulatesWhatItShould) {
  const Tensor w = leaf(3.0);
  const auto f = [&](const Tensor& x) {
    backward(mul(square(x), w));
    return mul(x, w);
  };
  EXPECT_EQ(jvp(f, number(2.0), number(1.0)).tangent.item(), 3.0);
  EXPECT_EQ(w.grad().item(), 4.0);
  EXPECT_FALSE(w.grad().array()->has_tangents());
}

}  // namespace
}  // namespace neap
