// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A scope or a composite that was given a leaf's gradient took it away at its
// end: the leaf had none then, steps left parameters alone, and sums began
// anew. Nothing said so.
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/composite.hpp"
#include "neap/memory/scope_stats.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

Tensor leaf() {
  return requires_grad_(ones({2}));
}

Tensor square_of(const Tensor& w) {
  return sum(mul(w, w));
}

struct Pair : Composite {
  Pair(const Tensor& x, const Tensor& y) { absorb(x, y); }
};

TEST(ScopedGradientTest, AGradientInACompositeOutlivesTheCompositesScope) {
  const Tensor w = leaf();
  ParameterList list;
  list.push_back({.name = "w", .tensor = w, .aliases = {}});
  optim::SGD sgd(list, {.lr = 0.5});
  {
    const Scope scope;
    backward(square_of(w));
    const Pair both(square_of(w), w.grad());
    EXPECT_EQ(scope.size(), 1);
  }
  ASSERT_TRUE(w.grad().defined());
  sgd.step();
  EXPECT_EQ(w.at({0}), 0.0);
}

TEST(ScopedGradientTest, AGradientThatAScopeWasToAttachStaysItsLeafs) {
  const Tensor w = leaf();
  backward(square_of(w));
  {
    Scope scope;
    scope.attach(w.grad());
    EXPECT_EQ(scope.size(), 0);
    scope.release(w.grad());
  }
  backward(square_of(w));
  EXPECT_EQ(w.grad().at({0}), 4.0);
}

TEST(ScopedGradientTest, AGradientFromAHooksScopeOutlivesThatScope) {
  const Tensor w = leaf();
  {
    const Scope scope;
    Tensor five = full({2}, 5);
    register_hook(w, [five = std::move(five)](const Tensor&) mutable {
      return std::move(five);
    });
    backward(square_of(w));
  }
  ASSERT_TRUE(w.grad().defined());
  EXPECT_EQ(w.grad().at({1}), 5.0);
}

TEST(ScopedGradientTest, ARetainedGradientFromAHooksScopeOutlivesThatScope) {
  const Tensor w = leaf();
  const Tensor y = mul(w, w);
  retain_grad(y);
  {
    const Scope scope;
    Tensor five = full({2}, 5);
    register_hook(y, [five = std::move(five)](const Tensor&) mutable {
      return std::move(five);
    });
    backward(sum(y));
  }
  ASSERT_TRUE(y.grad().defined());
  EXPECT_EQ(y.grad().at({1}), 5.0);
}

TEST(ScopedGradientTest, APostAccumulateHookCannotAttachTheGradient) {
  const Tensor w = leaf();
  {
    Scope scope;
    HookHandle hook = register_post_accumulate_hook(
        w, [&scope](const Tensor& grad) { scope.attach(grad); });
    backward(square_of(w));
    hook.remove();
  }
  backward(square_of(w));
  EXPECT_EQ(w.grad().at({0}), 4.0);
}

TEST(ScopedGradientTest, ARecordedGradientThatIsSetIsTheLeafsAndTheUsers) {
  const Tensor w = leaf();
  const Tensor v = leaf();
  Tensor users;
  {
    const Scope scope;
    users = mul(w, w);
    set_grad(v, users);
    set_grad(w, users);
    EXPECT_TRUE(w.grad().requires_grad());
    EXPECT_TRUE(w.grad().is_alias_of(users));
    set_grad(w, {});
    Scope inner;
    inner.attach(v.grad());
  }
  EXPECT_FALSE(users.defined());
  ASSERT_TRUE(v.grad().defined());
  EXPECT_EQ(v.grad().at({0}), 1.0);
}

TEST(ScopedGradientTest, AGradientThatLeftItsLeafIsATensorLikeAnyOther) {
  const Tensor w = leaf();
  backward(square_of(w));
  const Tensor held = w.grad();
  zero_grad(std::span(&w, 1));
  {
    Scope scope;
    scope.attach(held);
    EXPECT_EQ(scope.size(), 1);
  }
  EXPECT_FALSE(held.defined());
}

TEST(ScopedGradientTest, AGradientThatOutlivesItsLeafIsLikeAnyOther) {
  Tensor held;
  {
    const Tensor w = leaf();
    backward(square_of(w));
    held = w.grad();
  }
  {
    Scope scope;
    scope.attach(held);
  }
  EXPECT_FALSE(held.defined());
}

TEST(ScopedGradientTest, GradientsAreListedWhereHandlesAreTracked) {
  const auto members = [] {
    int count = 0;
    memory::for_each_member([&count](memory::ScopeMember&) { ++count; });
    return count;
  };
  const memory::TrackHandles tracking;
  const int before = members();
  const Tensor w = leaf();
  backward(square_of(w));
  EXPECT_EQ(members() - before, 2);
  const Tensor held = w.grad();
  zero_grad(std::span(&w, 1));
  EXPECT_EQ(members() - before, 2);
}

TEST(ScopedGradientTest, StatisticsCountAGradientAsDetachedOnce) {
  const Tensor w = leaf();
  {
    Scope scope;
    memory::reset_scope_stats();
    set_grad(w, ones({2}));
    scope.attach(w.grad());
    scope.detach(w.grad());
    EXPECT_EQ(memory::scope_stats().detached, 1);
    EXPECT_EQ(memory::scope_stats().attached, 0);
  }
  zero_grad(std::span(&w, 1));
  EXPECT_EQ(memory::scope_stats().growth(), 0);
}

// A gradient that a scope has given back can only be a retained one now.
TEST(ScopedGradientTest, ARetainedGradientThatAScopeTookIsRefusedNotNone) {
  const Tensor w = leaf();
  const Tensor y = mul(w, w);
  retain_grad(y);
  backward(sum(y), {.retain_graph = true});
  {
    Scope scope;
    scope.attach(y.grad());
  }
  EXPECT_THROW(backward(sum(y)), UseAfterRelease);
  EXPECT_EQ(w.grad().at({0}), 2.0);
}

}  // namespace
}  // namespace neap
