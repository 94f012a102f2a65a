// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Scopes over graphs: handles are revoked, what a kept result needs stays.
#include "neap/memory/scope.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <thread>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/composite.hpp"
#include "neap/memory/scope_stats.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"
#include "neap/testing/fail_sweep.hpp"

namespace neap {
namespace {

constexpr Bytes kElements = 8000;  // of a large tensor below

class ScopeOverGraphTest : public DoorTest {
 protected:
  Bytes live() const { return domain_->stats().live; }
  static Tensor leaf(double value) {
    return requires_grad_(scalar(value, f64));
  }
  static Tensor large_leaf() { return requires_grad_(ones({1000}, f64)); }
};

TEST_F(ScopeOverGraphTest, AKeptResultIsDifferentiatedAfterTheScope) {
  const Tensor x = leaf(0.5);
  Tensor y;
  Tensor inner;
  {
    Scope scope;
    inner = exp(x);
    y = scope.keep(inner * inner);
  }
  EXPECT_FALSE(inner.defined());
  backward(y);
  EXPECT_DOUBLE_EQ(x.grad().item(), 2.0 * std::exp(1.0));
}

TEST_F(ScopeOverGraphTest, AResidualStaysWithTheResultAndGoesWithIt) {
  const Tensor x = large_leaf();
  const Bytes before = live();
  Tensor y;
  Tensor inner;
  {
    Scope scope;
    inner = exp(x);
    y = scope.keep(sum(inner * inner));
  }
  EXPECT_GT(live(), before + kElements);
  backward(y);
  zero_grad(std::span(&x, 1));
  EXPECT_LT(live(), before + 3000);
  EXPECT_FALSE(inner.defined());  // its handle is there, its elements are not
}

TEST_F(ScopeOverGraphTest, WhatNobodyKeepsGoesWithItsPartOfTheTape) {
  const Tensor x = large_leaf();
  Tensor copy;
  const Bytes before = live();
  {
    const Scope scope;
    copy = tanh(exp(x));
    EXPECT_GT(live(), before + 2 * kElements);
  }
  EXPECT_LT(live(), before + 1000);
}

TEST_F(ScopeOverGraphTest, GradientsOfOutsideLeavesAreNoMembers) {
  const Tensor x = leaf(3.0);
  {
    const Scope scope;
    const Tensor y = mul(x, x);
    backward(y);
    EXPECT_EQ(scope.size(), 1);
  }
  EXPECT_EQ(x.grad().item(), 6.0);
  {
    const Scope scope;
    backward(mul(x, x));  // adds to what is there
    EXPECT_EQ(scope.size(), 0);
  }
  EXPECT_EQ(x.grad().item(), 12.0);
}

TEST_F(ScopeOverGraphTest, AGradientThatIsPutInPlaceLeavesItsScope) {
  const Tensor x = leaf(3.0);
  {
    const Scope scope;
    set_grad(x, scalar(1.5, f64));
  }
  EXPECT_EQ(x.grad().item(), 1.5);
}

TEST_F(ScopeOverGraphTest, AWalkLeavesNothingButItsResults) {
  const Tensor x = leaf(0.5);
  Tensor first;
  {
    Scope scope;
    const Tensor y = tanh(exp(x));
    memory::reset_scope_stats();
    const auto gradients = grad(y, {x});
    first = gradients[0];
    EXPECT_EQ(scope.size(), 2);
    EXPECT_EQ(memory::scope_stats().created_in_scope, 0);
  }
  EXPECT_FALSE(first.defined());
}

TEST_F(ScopeOverGraphTest, GradLeavesTheCallersCotangentWhereItWas) {
  const Tensor x = leaf(0.5);
  const Tensor cotangent = scalar(2.0, f64);
  {
    const Scope scope;
    const auto gradients = grad(x, {x}, {.cotangents = {&cotangent, 1}});
    EXPECT_EQ(gradients[0].item(), 2.0);
  }
  EXPECT_EQ(cotangent.item(), 2.0);
}

TEST_F(ScopeOverGraphTest, GradientsAreKeptAsARange) {
  const Tensor x = leaf(0.5);
  const auto slope = [&x] {
    Scope scope;
    return scope.keep(grad(x * x, {x}));
  };
  EXPECT_EQ(slope()[0].item(), 1.0);
}

TEST_F(ScopeOverGraphTest, SecondDerivativesPassThroughScopes) {
  const Tensor x = leaf(2.0);
  Tensor first;
  {
    Scope scope;
    const Tensor y = x * x * x;
    first = scope.keep(grad(y, {x}, {.create_graph = true})[0]);
  }
  EXPECT_EQ(first.item(), 12.0);
  EXPECT_EQ(grad(first, {x})[0].item(), 12.0);
}

TEST_F(ScopeOverGraphTest, AnOverwrittenTemporaryBelongsWhereTheResultIsMade) {
  Scope outer;
  Tensor t = ones({1000});
  {
    const Scope inner;
    const NoGrad guard;
    const Tensor y = exp(std::move(t));
    EXPECT_EQ(inner.size(), 1);
    EXPECT_EQ(outer.size(), 0);
  }
}

TEST_F(ScopeOverGraphTest, IsThereWithoutGradToo) {
  const Tensor x = leaf(0.5);
  Tensor y;
  Tensor copy;
  {
    Scope scope;
    const NoGrad guard;
    copy = exp(x);
    y = scope.keep(copy * copy);
  }
  EXPECT_FALSE(copy.defined());
  EXPECT_FALSE(y.requires_grad());
}

TEST_F(ScopeOverGraphTest, ALoopInAScopeIsFlat) {
  const Tensor x = large_leaf();
  std::vector<Tensor> hoard;  // handles that leak, of what scopes give back
  hoard.reserve(60);
  Bytes after_first = 0;
  for (int i = 0; i < 50; ++i) {
    const Scope scope;
    const Tensor y = sum(exp(x));
    hoard.push_back(y);
    backward(y);
    if (i == 0) {
      after_first = live();
    }
  }
  // A header each: the place that the handle lies in.
  EXPECT_LT(live(), after_first + 50 * 1024);
}

TEST_F(ScopeOverGraphTest, AnyFailureInsideLeavesWhatWas) {
  const Tensor x = leaf(0.5);
  const auto action = [&x] {
    memory::reset_scope_stats();
    Scope outer;
    {
      Scope scope;
      const Tensor y = tanh(exp(x));
      const Composite both(y, exp(y));
      scope.keep(both);
      const auto slope = scope.keep(grad(y, {x}));
      backward(tanh(exp(x)));
    }
  };
  const auto check = [&x](std::int64_t n) {
    EXPECT_EQ(memory::scope_stats().growth(), 0) << n;
    EXPECT_EQ(memory::scope_stats().growth_bytes(), 0) << n;
    EXPECT_EQ(Scope::current(), nullptr);
    EXPECT_FALSE(x.grad().defined());
  };
  const testing::SweepResult result =
      testing::sweep_allocation_failures(*domain_, action, check);
  EXPECT_THAT(result.problems, ::testing::IsEmpty());
  EXPECT_GT(result.failures, 10);
}

TEST_F(ScopeOverGraphTest, GraphsMayEndInAnotherThreadWhileTheScopeDoes) {
  for (int round = 0; round < 100; ++round) {
    std::vector<Tensor> passed_on;
    std::thread other;
    std::atomic<bool> is_ready{false};
    {
      const Scope scope;
      const Tensor x = leaf(0.5);
      Tensor y = x;
      for (int i = 0; i < 20; ++i) {
        y = exp(y);
        passed_on.push_back(y);
      }
      other = std::thread([&is_ready, mine = std::move(passed_on)]() mutable {
        is_ready = true;
        mine.clear();
      });
      while (!is_ready) {
      }
    }
    other.join();
    ASSERT_EQ(live(), 0);
  }
}

}  // namespace
}  // namespace neap
