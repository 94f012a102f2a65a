// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The state that a refused allocation leaves behind, wherever in the life of a
// graph it comes: while building, in a backward, in grad, in a release.
#include <gtest/gtest.h>

#include <functional>

#include "neap/autograd/backward.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/lifetime.hpp"
#include "neap/graph/node.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/testing/fail_sweep.hpp"

namespace neap {
namespace {

class LifetimesFailAtN : public ::testing::Test {
 protected:
  ~LifetimesFailAtN() override {
    x_ = w_ = Tensor();
    EXPECT_EQ(domain_->stats().live, 0);
  }
  // A diamond with a residual of every kind: inputs, an output, bits.
  Tensor made() const {
    const Tensor both = mul(x_, w_);
    return sum(add(tanh(both), mul(relu(both), exp(x_))));
  }
  // Fails `call` at its n-th request, n = 1, 2, ..., and checks after each; the
  // graph is made anew for each n. Returns how often it failed.
  int sweep(const std::function<void(const Tensor&)>& call,
            const std::function<void(const Tensor&)>& check) {
    for (int n = 1; n < 1000; ++n) {
      const Tensor y = made();
      domain_->fail_at(n);
      try {
        call(y);
        domain_->fail_at(0);
        return n - 1;
      } catch (const OutOfMemory&) {
        domain_->fail_at(0);
        check(y);
      }
    }
    return -1;
  }
  graph::State state_of(const Tensor& y) const {
    return static_cast<const graph::Node&>(*y.link()).state();
  }

  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
  Tensor x_ = requires_grad_(from_values({1, 2, 3}, {3}, f64));
  Tensor w_ = requires_grad_(from_values({2, 0, -1}, {3}, f64));
};

TEST_F(LifetimesFailAtN, BuildingLeavesNothingBehind) {
  const Tensor before = made();
  const auto result = testing::sweep_allocation_failures(
      *domain_, [&] { made(); },
      [&](std::int64_t) {
        EXPECT_EQ(state_of(before), graph::State::kAvailable);
      });
  EXPECT_TRUE(result.ok()) << result.problems[0];
  EXPECT_GT(result.failures, 10);
  backward(before);
}

// Residuals that go by donation are those of nobody: a failed op leaves the
// rvalue that it was given as it was.
TEST_F(LifetimesFailAtN, AFailedCallLeavesItsRvalueAlone) {
  for (int n = 1; n < 100; ++n) {
    Tensor y = neg(x_);
    domain_->fail_at(n);
    try {
      const Tensor z = exp(std::move(y));
      domain_->fail_at(0);
      EXPECT_GT(n, 1);
      return;
    } catch (const OutOfMemory&) {
      domain_->fail_at(0);
      ASSERT_TRUE(y.defined());
      EXPECT_EQ(y.at({1}), -2.0);
      backward(sum(y));
      zero_grad(std::span(&x_, 1));
    }
  }
  FAIL() << "the op never succeeded";
}

TEST_F(LifetimesFailAtN, ABackwardChangesNoGradientAndFreesItsGraph) {
  backward(made());
  const double grad = x_.grad().at({0});
  const Tensor old = x_.grad();
  const Tensor old_w = w_.grad();
  const auto restore = [&] {  // set_grad() would copy what is held here
    graph::leaf_of(x_)->set_grad(old);
    graph::leaf_of(w_)->set_grad(old_w);
  };
  Bytes consumed = 0;
  {
    const Tensor y = made();
    backward(y);
    restore();
    consumed = domain_->stats().live;
  }
  const int failures =
      sweep([](const Tensor& y) { backward(y); },
            [&](const Tensor& y) {
              EXPECT_TRUE(x_.grad().is_alias_of(old));
              EXPECT_EQ(x_.grad().at({0}), grad);
              if (state_of(y) == graph::State::kAvailable) {
                backward(y, {.retain_graph = true});  // it was never entered
                restore();
                return;
              }
              // The result alone is left, and its node without what it kept.
              EXPECT_EQ(domain_->stats().live, consumed);
              EXPECT_THROW(backward(y), GraphError);
            });
  EXPECT_GT(failures, 10);
}

TEST_F(LifetimesFailAtN, ABackwardThatRetainsLeavesAllUnchanged) {
  backward(made());
  const double once = x_.grad().at({0});
  zero_grad(std::span(&x_, 1));
  zero_grad(std::span(&w_, 1));
  Bytes before = 0;
  const int failures = sweep(
      [&](const Tensor& y) {
        before = domain_->stats().live;
        backward(y, {.retain_graph = true});
      },
      [&](const Tensor& y) {
        EXPECT_EQ(domain_->stats().live, before);
        EXPECT_FALSE(x_.grad().defined());
        EXPECT_FALSE(w_.grad().defined());
        backward(y);
        EXPECT_EQ(x_.grad().at({0}), once);
        zero_grad(std::span(&x_, 1));
        zero_grad(std::span(&w_, 1));
      });
  EXPECT_GT(failures, 10);
}

TEST_F(LifetimesFailAtN, GradThatRetainsLeavesAllUnchanged) {
  Bytes before = 0;
  const Tensor unused = requires_grad_(ones({2}, f64));
  const int failures = sweep(
      [&](const Tensor& y) {
        before = domain_->stats().live;
        grad(y, {x_, unused},
             {.retain_graph = true, .unused = GradOptions::Unused::kZeros});
      },
      [&](const Tensor& y) {
        EXPECT_EQ(domain_->stats().live, before);
        EXPECT_EQ(grad(y, {w_}).size(), 1U);
      });
  EXPECT_GT(failures, 10);
}

TEST_F(LifetimesFailAtN, GradLeavesNoGradientsOnLeaves) {
  const int failures = sweep(
      [&](const Tensor& y) {
        grad(y, {x_, w_});
      },
      [&](const Tensor& y) {
        EXPECT_TRUE(y.defined());
        EXPECT_FALSE(x_.grad().defined());
        EXPECT_FALSE(w_.grad().defined());
      });
  EXPECT_GT(failures, 10);
}

TEST_F(LifetimesFailAtN, KeptGradientsAndHooksAreRegisteredWholeOrNotAtAll) {
  const Tensor y = made();
  register_hook(y, [](const Tensor&) {});
  const auto kept =
      testing::sweep_allocation_failures(*domain_, [&] { retain_grad(y); });
  EXPECT_TRUE(kept.ok()) << kept.problems[0];
  const auto hooked = testing::sweep_allocation_failures(
      *domain_, [&] { register_hook(y, [](const Tensor&) {}); });
  EXPECT_TRUE(hooked.ok()) << hooked.problems[0];
  backward(y);
  EXPECT_EQ(y.grad().item(), 1.0);
}

// Where there is no memory for a node of its own, the released tensor shares
// one that stands for all of them; it refuses all the same.
TEST_F(LifetimesFailAtN, AReleaseNeedsNoMemory) {
  const Tensor y = made();
  const Tensor other = neg(y);
  domain_->fail_at(1);
  graph::release(y);
  domain_->fail_at(0);
  EXPECT_TRUE(y.requires_grad());
  EXPECT_THROW(backward(y), GraphError);
  EXPECT_THROW(backward(neg(y)), GraphError);
  backward(other);
  EXPECT_TRUE(x_.grad().defined());
}

}  // namespace
}  // namespace neap
