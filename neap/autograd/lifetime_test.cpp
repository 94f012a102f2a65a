// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Tests of what a consumption, a release or a dropped handle frees, and what it
// leaves.
#include "neap/graph/lifetime.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <thread>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/node.hpp"
#include "neap/memory/scope.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/trigonometry.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/split.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using graph::FreedNode;
using graph::State;
using graph::Why;

const graph::Node& node_of(const Tensor& t) {
  return static_cast<const graph::Node&>(*t.link());
}

class Log final : public graph::Observer {
 public:
  void freed(const FreedNode& node) noexcept override {
    lines.push_back(std::string(node.op) + " " +
                    std::string(graph::name_of(node.why)));
  }
  std::vector<std::string> lines;
};

std::string refusal(const Tensor& result) {
  try {
    backward(result);
  } catch (const GraphError& error) {
    return error.what();
  }
  return "none";
}

// Every test runs in a domain of its own and ends with nothing live.
class LifetimeTest : public testing::Test {
 protected:
  ~LifetimeTest() override { EXPECT_EQ(domain_->stats().live, 0); }
  static Tensor leaf(double value) {
    return requires_grad_(scalar(value, f64));
  }
  Bytes live() const { return domain_->stats().live; }
  Domain::Handle domain_ = Domain::create();
  UseDomain use_{*domain_};
};

TEST_F(LifetimeTest, AHeaderIsAsSmallAsStated) {
  EXPECT_EQ(sizeof(graph::Node), 80U);
  EXPECT_EQ(sizeof(graph::Edge), 32U);
  EXPECT_EQ(sizeof(graph::Residual), 16U);
}

TEST_F(LifetimeTest, AConsumptionMakesDescendantsUnavailableAtOnce) {
  const Tensor x = leaf(2.0);
  const Tensor shared = exp(x);
  Tensor branch = sin(shared);
  for (int i = 0; i < 10; ++i) {
    branch = mul(sin(branch), branch);
  }
  const Tensor other = tanh(shared);
  Log log;
  const graph::UseObserver watch(log);
  backward(other);
  EXPECT_EQ(node_of(branch).state(), State::kUnavailable);
  EXPECT_TRUE(node_of(branch).residuals().empty());
  // tanh and exp consumed; one sin and ten pairs unavailable.
  EXPECT_EQ(log.lines.size(), 2U + 21U);
  EXPECT_EQ(log.lines.front(), "tanh consumed");
  const std::string text = refusal(branch);
  EXPECT_NE(text.find("'mul' recorded at"), text.npos) << text;
  EXPECT_NE(text.find("'exp' recorded at"), text.npos) << text;
  EXPECT_NE(text.find("consumed by the backward at"), text.npos) << text;
}

TEST_F(LifetimeTest, WhatIsBuiltOnAConsumedPartKeepsNothing) {
  const Tensor x = leaf(2.0);
  Tensor loss = exp(x);
  backward(loss);
  Tensor total = loss;
  for (int i = 0; i < 3; ++i) {
    total = add(total, loss);
  }
  const Bytes before = live();
  for (int i = 0; i < 100; ++i) {
    total = add(total, loss);
  }
  EXPECT_EQ(live(), before);
  EXPECT_NEAR(total.item(), 104 * std::exp(2.0), 1e-9);
  EXPECT_TRUE(total.requires_grad());
  EXPECT_NE(refusal(total).find("'exp' recorded at"), std::string::npos);
}

TEST_F(LifetimeTest, AFreshBranchOverAnUnconsumedPartStaysUsable) {
  const Tensor x = leaf(2.0);
  const Tensor base = mul(x, x);
  const Tensor first = sin(base);
  const Tensor second = exp(base);
  // Aimed at the shared value, the walk consumes what comes after it alone.
  EXPECT_NEAR(grad(first, {base})[0].item(), std::cos(4.0), 1e-12);
  backward(second);
  EXPECT_NEAR(x.grad().item(), 4 * std::exp(4.0), 1e-9);
  EXPECT_NE(refusal(first), "none");
}

TEST_F(LifetimeTest, ReleaseTakesOnlyWhatOneResultNeeds) {
  const Tensor x = leaf(2.0);
  const Tensor shared = exp(x);
  const Tensor one = sin(shared);
  const Tensor two = tanh(shared);
  Log log;
  const graph::UseObserver watch(log);
  graph::release(one);
  EXPECT_EQ(log.lines, std::vector<std::string>{"sin released"});
  EXPECT_NEAR(one.item(), std::sin(std::exp(2.0)), 1e-12);
  EXPECT_NE(refusal(one).find("was released at"), std::string::npos);
  backward(two);
  EXPECT_TRUE(x.grad().defined());
  graph::release(one);  // again: nothing
}

TEST_F(LifetimeTest, ReleaseOfWhatAnotherResultNeedsLeavesTheOther) {
  const Tensor x = leaf(2.0);
  const Tensor inner = exp(x);
  const Tensor outer = mul(inner, inner);
  graph::release(inner);
  EXPECT_NE(refusal(inner).find("was released at"), std::string::npos);
  EXPECT_NE(refusal(sin(inner)).find("released at"), std::string::npos);
  backward(outer);
  EXPECT_NEAR(x.grad().item(), 2 * std::exp(4.0), 1e-9);
}

TEST_F(LifetimeTest, ReleaseNeedsNoMemory) {
  const Tensor x = leaf(2.0);
  const Tensor inner = exp(x);
  const Tensor outer = mul(inner, inner);
  domain_->fail_at(1);
  graph::release(inner);
  domain_->fail_at(0);
  EXPECT_NE(refusal(inner).find("released"), std::string::npos);
  backward(outer);
}

TEST_F(LifetimeTest, ReleaseFreesTheBytes) {
  const Tensor x = leaf(2.0);
  const Bytes bare = live();
  Tensor y = x;
  for (int i = 0; i < 50; ++i) {
    y = sin(y);
  }
  graph::release(y);
  EXPECT_LT(live() - bare, 1200);
  y = {};
  EXPECT_EQ(live(), bare);
}

TEST_F(LifetimeTest, ASplitsOneResultIsReleasedForItselfAlone) {
  const Tensor x = requires_grad_(ones({4}, f64));
  auto parts = split(mul(x, x), 2);
  graph::release(parts[0]);
  EXPECT_NE(refusal(sum(parts[0])), "none");
  backward(sum(parts[1]));
  EXPECT_EQ(x.grad().at({3}), 2.0);
  EXPECT_EQ(x.grad().at({0}), 0.0);
}

TEST_F(LifetimeTest, AWalkThatIsAimedChecksOnlyWhatItRuns) {
  Tensor x = leaf(2.0);
  const Tensor y = leaf(3.0);
  const Tensor far = sin(x);
  const Tensor near = mul(far, y);
  x.mutable_values<double>()[0] = 5.0;  // the vjp of sin needs the old value
  EXPECT_NEAR(grad(near, {y}, {.retain_graph = true})[0].item(), std::sin(2.0),
              1e-12);
  EXPECT_THROW(backward(near), GraphError);
  EXPECT_FALSE(y.grad().defined());
}

TEST_F(LifetimeTest, DroppedHandlesAreToldAsUnreferenced) {
  const Tensor x = leaf(1.0);
  Log log;
  const graph::UseObserver watch(log);
  { const Tensor y = neg(sin(x)); }
  EXPECT_EQ(log.lines,
            (std::vector<std::string>{"neg unreferenced", "sin unreferenced"}));
}

TEST_F(LifetimeTest, AnUnusedInputIsRefusedBeforeAnyDamage) {
  const Tensor x = leaf(1.0);
  const Tensor y = sin(x);
  const Tensor other = leaf(1.0);
  EXPECT_THROW(grad(y, {x, other}), GraphError);
  backward(y);  // nothing was consumed
}

TEST_F(LifetimeTest, SeveralResultsAreDifferentiatedInOnePass) {
  const Tensor x = leaf(3.0);
  const Tensor y = mul(x, x);
  const std::vector<Tensor> results{y, neg(y)};
  const std::vector<Tensor> cotangents{scalar(5.0, f64), Tensor()};
  backward(results, cotangents);
  EXPECT_EQ(x.grad().item(), 4 * 6.0);
}

TEST_F(LifetimeTest, WhatGradReturnsBelongsToTheScope) {
  const Tensor x = leaf(3.0);
  const Tensor seed = scalar(2.0, f64);
  Tensor kept;
  Tensor dropped;
  {
    Scope scope;
    const Tensor y = add(x, x);
    auto grads = grad(std::span(&y, 1), std::span(&y, 1),
                      {.cotangents = std::span(&seed, 1)});
    dropped = grads[0];  // the seed itself, by another handle
    kept = scope.keep(grad(mul(x, x), {x})[0]);
  }
  EXPECT_FALSE(dropped.defined());
  EXPECT_EQ(seed.item(), 2.0);
  EXPECT_EQ(kept.item(), 6.0);
}

// --- hooks -----------------------------------------------------------------

TEST_F(LifetimeTest, AHookSeesAndChangesAGradient) {
  const Tensor x = leaf(3.0);
  const Tensor y = mul(x, x);
  double seen = 0.0;
  auto handle = register_hook(y, [&](const Tensor& g) {
    seen = g.item();
    return mul(g, 10.0);
  });
  register_hook(x, [&](const Tensor& g) { return neg(g); });
  backward(y, {.retain_graph = true});
  EXPECT_EQ(seen, 1.0);
  EXPECT_EQ(x.grad().item(), -60.0);
  handle.remove();
  zero_grad(std::span(&x, 1));
  EXPECT_EQ(grad(y, {x})[0].item(), -6.0);
}

TEST_F(LifetimeTest, AThrowingHookLeavesGradientsAsTheyWere) {
  const Tensor x = leaf(3.0);
  const Tensor y = leaf(4.0);
  backward(mul(x, y));
  register_hook(y, [](const Tensor&) { throw ValueError("no"); });
  EXPECT_THROW(backward(mul(x, y)), ValueError);
  EXPECT_EQ(x.grad().item(), 4.0);
  EXPECT_EQ(y.grad().item(), 3.0);
}

TEST_F(LifetimeTest, AHookOfAnotherShapeIsRefused) {
  const Tensor x = leaf(3.0);
  register_hook(x, [](const Tensor&) { return ones({2}, f64); });
  EXPECT_THROW(backward(mul(x, x)), ShapeError);
  EXPECT_FALSE(x.grad().defined());
}

TEST_F(LifetimeTest, APostAccumulateHookMayGiveTheGradientBack) {
  const Tensor x = leaf(3.0);
  double sum = 0.0;
  register_post_accumulate_hook(x,
                                [&sum](const Tensor& g) { sum += g.item(); });
  backward(mul(x, x));
  backward(mul(x, x));
  EXPECT_EQ(sum, 6.0 + 12.0);
  const auto nothing = [](const Tensor&) {};
  EXPECT_THROW(register_post_accumulate_hook(mul(x, x), nothing), GraphError);
}

TEST_F(LifetimeTest, AHookMayRemoveItself) {
  const Tensor x = leaf(3.0);
  int calls = 0;
  HookHandle handle;
  handle = register_hook(x, [&](const Tensor&) {
    ++calls;
    handle.remove();
  });
  backward(mul(x, x));
  backward(mul(x, x));
  EXPECT_EQ(calls, 1);
  handle = {};
}

TEST_F(LifetimeTest, ResultsKeepTheirGradientOnRequest) {
  const Tensor x = leaf(3.0);
  const Tensor y = mul(x, x);
  const Tensor z = sin(y);
  retain_grad(y);
  backward(z);
  EXPECT_NEAR(y.grad().item(), std::cos(9.0), 1e-12);
  EXPECT_FALSE(z.grad().defined());
  const Tensor w = mul(x, x);
  retain_grad(w);
  EXPECT_EQ(grad(neg(w), {x})[0].item(), -6.0);
  EXPECT_FALSE(w.grad().defined());  // grad accumulates nothing
}

// A chain of hooks, each of which holds the tensor before, ends on a constant
// stack.
TEST_F(LifetimeTest, ClosuresThatHoldOneAnotherEndWithoutRecursion) {
  Tensor last = leaf(1.0);
  for (int i = 0; i < 200'000; ++i) {
    Tensor next = neg(leaf(1.0));
    register_hook(next, [last](const Tensor&) {});
    last = next;
  }
  last = {};
  EXPECT_EQ(live(), 0);
}

// --- threads ---------------------------------------------------------------

TEST_F(LifetimeTest, AccumulationFromSeveralThreadsLosesNothing) {
  const Tensor x = requires_grad_(ones({3}, f64));
  const Tensor y = requires_grad_(ones({3}, f64));
  constexpr int kThreads = 4;
  constexpr int kRounds = 100;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const UseDomain use(*domain_);
      for (int i = 0; i < kRounds; ++i) {
        backward(sum(t % 2 == 0 ? add(x, y) : add(y, x)));
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(x.grad().at({0}), kThreads * kRounds);
  EXPECT_EQ(y.grad().at({2}), kThreads * kRounds);
}

// A branch is there before the consumption, and is unavailable then, or comes
// after it, and is refused: in either case its backward refuses.
TEST_F(LifetimeTest, ABranchMeetsAConsumptionInAnotherThread) {
  for (int round = 0; round < 200; ++round) {
    const Tensor x = leaf(2.0);
    const Tensor shared = exp(x);
    const Tensor loss = sin(shared);
    std::thread consumer([&] {
      const UseDomain use(*domain_);
      backward(loss);
    });
    const Tensor branch = tanh(mul(shared, shared));
    consumer.join();
    EXPECT_NE(refusal(branch), "none");
  }
}

TEST_F(LifetimeTest, TwoWalksOverOneNodeAreRefusedNotUndefined) {
  for (int round = 0; round < 200; ++round) {
    const Tensor x = leaf(2.0);
    const Tensor shared = exp(x);
    const Tensor one = sin(shared);
    const Tensor two = tanh(shared);
    int done = 0;
    std::thread other([&] {
      const UseDomain use(*domain_);
      done += refusal(one) == "none" ? 1 : 0;
    });
    const bool mine = refusal(two) == "none";
    other.join();
    EXPECT_LE(done + (mine ? 1 : 0), 1);
  }
}

// The number of hooks that a collector may follow from this handle.
int sole_hooks(const Tensor& t) {
  int count = 0;
  graph::visit_sole_hooks(t, [&](graph::HookBody&) { ++count; });
  return count;
}

TEST_F(LifetimeTest, HooksAreVisitedWhereOneHandleAloneLeadsToThem) {
  const auto nothing = [](const Tensor&) {};
  Tensor x = leaf(2.0);
  EXPECT_EQ(sole_hooks(x), 0);
  EXPECT_EQ(sole_hooks(Tensor()), 0);
  register_hook(x, nothing);
  register_hook(x, nothing);
  EXPECT_EQ(sole_hooks(x), 2);
  {
    const Tensor copy = x;  // another handle
    EXPECT_EQ(sole_hooks(x), 0);
  }
  {
    const Tensor loss = tanh(x);  // a node that was computed from it
    EXPECT_EQ(sole_hooks(x), 0);
    register_hook(loss, nothing);
    EXPECT_EQ(sole_hooks(loss), 1);
  }
  EXPECT_EQ(sole_hooks(x), 2);
  {
    HookHandle handle = register_hook(x, nothing);
    EXPECT_EQ(sole_hooks(x), 0);  // the list has another holder
    handle.remove();
  }
  EXPECT_EQ(sole_hooks(x), 2);
}

TEST_F(LifetimeTest, HooksOfARunningCallAreNotVisited) {
  Tensor x = leaf(2.0);
  int inside = -1;
  register_hook(x, [&](const Tensor&) { inside = sole_hooks(x); });
  backward(tanh(x));
  EXPECT_EQ(inside, 0);
  EXPECT_EQ(sole_hooks(x), 1);
}

}  // namespace
}  // namespace neap
