// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/autograd/backward.hpp"

#include <gtest/gtest.h>

#include <thread>

#include "neap/autograd/jvp.hpp"
#include "neap/graph/node.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

// Every test runs in a domain of its own and ends with nothing live.
class BackwardTest : public testing::Test {
 protected:
  ~BackwardTest() override { EXPECT_EQ(domain_->stats().live, 0); }
  static Tensor leaf(double value) {
    return requires_grad_(scalar(value, f64));
  }
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

TEST_F(BackwardTest, AccumulatesIntoLeavesUntilTheyAreCleared) {
  const Tensor x = leaf(3.0);
  backward(mul(x, x));
  EXPECT_EQ(x.grad().item(), 6.0);
  backward(mul(x, x));
  EXPECT_EQ(x.grad().item(), 12.0);
  zero_grad(std::span(&x, 1));
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(BackwardTest, AddsBothWaysOfADiamond) {
  const Tensor x = leaf(2.0);
  const Tensor y = leaf(5.0);
  backward(add(mul(x, y), x));
  EXPECT_EQ(x.grad().item(), 6.0);
  EXPECT_EQ(y.grad().item(), 2.0);
}

TEST_F(BackwardTest, IsLinearInTheDoublingsOfAValue) {
  const Tensor x = leaf(1.0);
  Tensor y = x;
  for (int i = 0; i < 60; ++i) {
    y = add(y, y);
  }
  backward(y);
  EXPECT_EQ(x.grad().item(), 0x1.0p60);
}

TEST_F(BackwardTest, RefusesASecondWalkOverAConsumedPart) {
  const Tensor x = leaf(2.0);
  const Tensor y = tanh(x);
  backward(y);
  const double first = x.grad().item();
  try {
    backward(y);
    FAIL() << "the second backward was let through";
  } catch (const GraphError& error) {
    const std::string_view text = error.what();
    EXPECT_NE(text.find("'tanh'"), std::string_view::npos);
    EXPECT_NE(text.find("already consumed"), std::string_view::npos);
    EXPECT_NE(text.find("backward_test.cpp:"), std::string_view::npos);
  }
  EXPECT_EQ(x.grad().item(), first);
}

TEST_F(BackwardTest, WalksARetainedGraphAgain) {
  const Tensor x = leaf(2.0);
  const Tensor y = mul(x, x);
  backward(y, {.retain_graph = true});
  backward(y);
  EXPECT_EQ(x.grad().item(), 8.0);
}

TEST_F(BackwardTest, FreesResidualsWhileTheResultIsStillHeld) {
  const Tensor x = requires_grad_(ones({1000}, f64));
  const Tensor y = sum(tanh(x));
  const Bytes before = domain_->stats().live;
  backward(y);
  zero_grad(std::span(&x, 1));
  EXPECT_LE(domain_->stats().live, before - 8000);
}

TEST_F(BackwardTest, RefusesAValueThatWasOverwritten) {
  Tensor w = leaf(2.0);
  const Tensor x = leaf(3.0);
  const Tensor y = mul(w, x);
  w.mutable_values<double>()[0] = 7.0;
  EXPECT_THROW(backward(y), GraphError);
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(BackwardTest, RefusesResultsWithoutAGraph) {
  const Tensor x = leaf(1.0);
  Tensor y;
  {
    const NoGrad guard;
    y = neg(x);
  }
  EXPECT_FALSE(y.requires_grad());
  EXPECT_THROW(backward(y), GraphError);
  EXPECT_THROW(backward(neg(x.detach())), GraphError);
}

TEST_F(BackwardTest, AsksForACotangentOfManyElements) {
  const Tensor x = requires_grad_(ones({3}, f64));
  EXPECT_THROW(backward(neg(x)), ShapeError);
  backward(neg(x), {.cotangent = from_values({1, 2, 3}, {3}, f64)});
  EXPECT_EQ(x.grad().at({2}), -3.0);
  EXPECT_THROW(backward(neg(x), {.cotangent = ones({2}, f64)}), ShapeError);
}

TEST_F(BackwardTest, LeavesAFrozenLeafAlone) {
  const Tensor x = leaf(2.0);
  const Tensor w = leaf(5.0);
  const Tensor y = mul(x, w);
  requires_grad_(w, false);
  backward(y);
  EXPECT_EQ(x.grad().item(), 5.0);
  EXPECT_FALSE(w.grad().defined());
  EXPECT_FALSE(mul(w, w).requires_grad());
}

TEST_F(BackwardTest, SharesNoMemoryBetweenGradients) {
  const Tensor a = leaf(1.0);
  const Tensor b = leaf(2.0);
  backward(add(a, b));
  EXPECT_FALSE(a.grad().is_alias_of(b.grad()));
}

TEST_F(BackwardTest, KeepsNoMoreThanItsBytesForAGradient) {
  for (const std::int64_t start : {0, 500, 990}) {
    const Tensor x = requires_grad_(ones({10}, f64));
    const Tensor wide = ops::slice_put(
        x, {.axis = 0, .start = start, .step = 1, .count = 10, .extent = 1000});
    backward(sum(wide));
    EXPECT_EQ(x.grad().array()->storage()->size(), 80);
  }
}

TEST_F(BackwardTest, LeavesGradientsAsTheyWereWhenARuleFindsNoMemory) {
  const Tensor x = leaf(2.0);
  backward(mul(x, x));
  for (std::int64_t n = 1; n < 100; ++n) {
    const Tensor y = tanh(mul(x, x));
    domain_->fail_at(n);
    try {
      backward(y, {.retain_graph = true});
      domain_->fail_at(0);
      EXPECT_GT(n, 5);
      return;
    } catch (const OutOfMemory&) {
      EXPECT_EQ(x.grad().item(), 4.0) << "after request " << n;
      backward(y, {.retain_graph = true});  // the retained graph still works
      set_grad(x, scalar(4.0, f64));
    }
  }
  FAIL() << "backward never succeeded";
}

TEST_F(BackwardTest, CountsWhatItMakesForOwnersOfTheCurrentDomain) {
  const Tensor x = leaf(2.0);
  const Tensor y = mul(x, x);
  const auto other = Domain::create();
  {
    const UseDomain use(*other);
    other->owner("not the owner of anything");
    backward(y);
    std::array<memory::Row, 16> rows;
    const int count = other->live_rows(rows);
    for (int i = 0; i < count; ++i) {
      EXPECT_EQ(rows[static_cast<std::size_t>(i)].tag.owner.value, 0U);
    }
  }
  zero_grad(std::span(&x, 1));
  EXPECT_EQ(other->stats().live, 0);
}

TEST_F(BackwardTest, WalksSeparateGraphsOverSharedLeavesInManyThreads) {
  const Tensor w = leaf(3.0);
  const auto walk = [&] {
    const UseDomain use(*domain_);
    for (int i = 0; i < 200; ++i) {
      const Tensor x = requires_grad_(scalar(2.0, f64));
      EXPECT_EQ(grad(tanh(mul(w, x)), {w}).size(), 1U);
    }
  };
  std::thread one(walk);
  std::thread two(walk);
  one.join();
  two.join();
}

TEST_F(BackwardTest, GradReturnsCotangentsOfLeavesAndOfIntermediates) {
  const Tensor x = leaf(2.0);
  const Tensor y = mul(x, x);
  const auto found = grad(mul(y, y), {x, y});
  EXPECT_EQ(found[0].item(), 32.0);
  EXPECT_EQ(found[1].item(), 8.0);
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(BackwardTest, GradRefusesUnusedInputsUnlessAskedForZeros) {
  const Tensor x = leaf(2.0);
  const Tensor unused = leaf(1.0);
  EXPECT_THROW(grad(neg(x), {unused}), GraphError);
  const auto found =
      grad(neg(x), {unused}, {.unused = GradOptions::Unused::kZeros});
  EXPECT_EQ(found[0].item(), 0.0);
}

TEST_F(BackwardTest, DifferentiatesDerivativesToAnyOrder) {
  const Tensor x = leaf(2.0);
  Tensor y = mul(mul(mul(x, x), x), x);
  const std::array<double, 4> expected = {32.0, 48.0, 48.0, 24.0};
  for (const double value : expected) {
    y = grad(y, {x}, {.create_graph = true})[0];
    EXPECT_EQ(y.item(), value);
  }
}

TEST_F(BackwardTest, ForwardModeKeepsNoMoreThanTheProgramDoes) {
  const Tensor x = ones({1000}, f64);
  const Bytes before = domain_->stats().live;
  domain_->reset_peak();
  jvp(
      [](std::span<const Tensor> in) {
        Tensor y = in[0];
        for (int i = 0; i < 1000; ++i) {
          y = neg(y);
        }
        return y;
      },
      std::span(&x, 1), std::span(&x, 1));
  EXPECT_LT(domain_->stats().live_peak - before, 100 * 2 * 8000);
}

}  // namespace
}  // namespace neap
