// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/gradients.hpp"

#include <gtest/gtest.h>

#include <span>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

// Every test runs in a domain of its own and ends with nothing live.
class GradientsTest : public testing::Test {
 protected:
  ~GradientsTest() override { EXPECT_EQ(domain_->stats().live, 0); }
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

// B8: get, remove, replace.
TEST_F(GradientsTest, AreFoundTakenAndReplacedByTensor_B8) {
  const Tensor x = requires_grad_(scalar(2.0, f64));
  const Tensor w = requires_grad_(scalar(5.0, f64));
  const Tensor y = mul(x, w);
  Gradients g = grad(mul(y, y), {w, y, x});
  EXPECT_EQ(g.size(), 3U);
  EXPECT_EQ(g[0].item(), 40.0);
  EXPECT_EQ(g.get(w).item(), 40.0);
  EXPECT_EQ(g.get(y).item(), 20.0);
  EXPECT_EQ(g.get(x.alias()).item(), 100.0);
  g.replace(w, scalar(1.0, f64));
  EXPECT_EQ(g[0].item(), 1.0);
  EXPECT_EQ(g.take(x).item(), 100.0);
  EXPECT_FALSE(g[2].defined());
  EXPECT_FALSE(w.grad().defined());
}

TEST_F(GradientsTest, KnowTensorsApart) {
  const Tensor x = requires_grad_(scalar(2.0, f64));
  const Tensor other = requires_grad_(scalar(2.0, f64));
  const Gradients g = grad(mul(x, x), {x});
  EXPECT_TRUE(g.contains(x));
  EXPECT_FALSE(g.contains(other));
  EXPECT_FALSE(g.contains(x.detach()));
  EXPECT_FALSE(g.contains(Tensor()));
  EXPECT_THROW(g.get(other), ValueError);
  EXPECT_THROW(g[1], ValueError);
}

TEST_F(GradientsTest, RefuseAReplacementThatFitsNoGradient) {
  const Tensor x = requires_grad_(ones({2}, f64));
  Gradients g = grad(sum(x), {x});
  EXPECT_THROW(g.replace(x, ones({3}, f64)), ShapeError);
  EXPECT_THROW(g.replace(x, ones({2}, f32)), DTypeError);
  EXPECT_THROW(g.replace(1, ones({2}, f64)), ValueError);
  EXPECT_EQ(g[0].at({0}), 1.0);
}

TEST_F(GradientsTest, HoldNoElementsOfWhatTheyAreFor) {
  Tensor x = requires_grad_(ones({1000}, f64));
  Tensor y = mul(x, x);
  const Gradients g = grad(sum(y), {y, x});
  const Bytes before = domain_->stats().live;
  x = Tensor();
  y = Tensor();
  EXPECT_LE(domain_->stats().live, before - 2 * 8000);
}

TEST_F(GradientsTest, AreARangeOfTensors) {
  const Tensor x = requires_grad_(scalar(2.0, f64));
  Gradients g = grad(mul(x, x), {x});
  double total = 0.0;
  for (const Tensor& one : g) {
    total += one.item();
  }
  EXPECT_EQ(total, 4.0);
  EXPECT_EQ(std::span<const Tensor>(g).size(), 1U);
  const Gradients moved = std::move(g);
  EXPECT_EQ(moved[0].item(), 4.0);
  EXPECT_TRUE(Gradients().empty());
}

}  // namespace
}  // namespace neap
