// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Rows T3, T4, T7 and T8: scopes and their statistics.
#include <array>
#include <optional>
#include <thread>

#include "support.hpp"

namespace neap::four_systems {
namespace {

using memory::process_scope_stats;
using memory::reset_process_scope_stats;
using memory::reset_scope_stats;
using memory::scope_stats;

TEST(FourSystemsTest, WhatWasMadeInsideAndNotKeptGoesAtTheEnd_T3) {
  const Bytes before = live();
  Tensor kept;
  std::vector<Tensor> smuggled;
  {
    Scope scope("block");
    const Tensor x = ones({1000}, f64);
    smuggled = {x, x * 2.0};
    kept = scope.keep(sum(x));
    EXPECT_GT(live(), before + 16'000);
  }
  EXPECT_LT(live(), before + 2'000);
  EXPECT_FALSE(smuggled[0].defined());
  EXPECT_FALSE(smuggled[1].defined());
  EXPECT_EQ(kept.item(), 1000);
  smuggled.clear();
  kept = Tensor();
  EXPECT_EQ(live(), before);
}

template <class T>
concept OnTheHeap = requires {
  new T();
};

TEST(FourSystemsTest, ScopesAreOnTheStackOnly_T3) {
  static_assert(!OnTheHeap<Scope>);
  static_assert(!std::is_copy_constructible_v<Scope>);
  static_assert(!std::is_move_constructible_v<Scope>);
}

TEST(FourSystemsTest, KeepMoveDetachAndAttach_T3) {
  const Tensor outside = row({1});
  Scope outer("outer");
  Scope middle("middle");
  Tensor kept;
  Tensor moved;
  Tensor further;
  Tensor detached;
  {
    Scope inner("inner");
    kept = inner.keep(row({1}));
    moved = row({2});
    inner.move_to_outer(moved);
    further = row({3});
    inner.move_to(further, outer);
    detached = row({4});
    inner.detach(detached);
    inner.attach(outside);
  }
  EXPECT_TRUE(kept.defined() && moved.defined() && further.defined());
  EXPECT_FALSE(outside.defined());
  EXPECT_EQ(middle.size(), 2);
  EXPECT_EQ(outer.size(), 1);
  middle.close();
  EXPECT_FALSE(kept.defined());
  EXPECT_FALSE(moved.defined());
  EXPECT_TRUE(further.defined());
  outer.close();
  EXPECT_FALSE(further.defined());
  EXPECT_EQ(detached.item(), 4);
}

TEST(FourSystemsTest, EveryCallIsIdempotent_T3) {
  Scope outer("outer");
  Scope scope("scope");
  const Tensor x = row({1});
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(scope.keep(x).defined());
    scope.attach(x);
    EXPECT_EQ(scope.size(), 1);
  }
  for (int i = 0; i < 2; ++i) {
    scope.move_to_outer(x);
    EXPECT_EQ(scope.size(), 0);
    EXPECT_EQ(outer.size(), 1);
  }
  for (int i = 0; i < 2; ++i) {
    scope.detach(x);
    EXPECT_EQ(outer.size(), 0);
  }
  for (int i = 0; i < 2; ++i) {
    scope.release(x);
    scope.close();
    EXPECT_TRUE(x.defined());  // it was no member any more
  }
}

TEST(FourSystemsTest, ReleaseAllButSome_T3) {
  Scope scope("scope");
  const Tensor a = row({1});
  const Tensor b = row({2});
  const Tensor c = row({3});
  scope.release_all_but(b);
  EXPECT_FALSE(a.defined() || c.defined());
  EXPECT_TRUE(b.defined());
  scope.release_all();
  EXPECT_FALSE(b.defined());
}

TEST(FourSystemsTest, ReleasesAndClosesOutOfOrder_T3) {
  Scope outer("outer");
  const Tensor a = row({1});
  const Tensor b = row({2});
  outer.release(a);
  EXPECT_FALSE(a.defined());
  EXPECT_TRUE(b.defined());
  Scope inner("inner");
  const Tensor c = row({3});
  outer.close();
  EXPECT_FALSE(b.defined());
  EXPECT_TRUE(c.defined());
}

struct Pair : Composite {
  Pair(const Tensor& a, const Tensor& b) : first(a), second(b) {
    absorb(first, second);
  }
  Tensor first;
  Tensor second;
};

TEST(FourSystemsTest, ACompositeCountsAsOne_T3) {
  Scope outer("outer");
  {
    Scope scope("scope");
    const Pair kept(row({1}), row({2}));
    const Pair revoked(row({3}), row({4}));
    EXPECT_EQ(scope.size(), 2);
    const Tensor part = revoked.second;
    EXPECT_TRUE(scope.keep(kept).defined());
    scope.release_all();
    EXPECT_FALSE(part.defined());
    EXPECT_FALSE(revoked.first.defined());
    EXPECT_EQ(kept.second.item(), 2);
    EXPECT_EQ(scope.size(), 1);
  }
}

// The middle of the chain is revoked as a handle; its bytes are a residual.
TEST(FourSystemsTest, AResidualThatAKeptResultNeedsStaysWithIt_T3) {
  const Tensor x = leaf({0.5});
  Tensor result;
  Tensor middle;
  const Bytes before = live();
  {
    Scope scope("scope");
    middle = tanh(x);
    result = scope.keep(square(middle));
  }
  EXPECT_FALSE(middle.defined());
  backward(result);
  const double t = std::tanh(0.5);
  EXPECT_DOUBLE_EQ(x.grad().item(), 2 * t * (1 - t * t));
  zero_grad(std::array{x});
  middle = Tensor();
  result = Tensor();
  EXPECT_EQ(live(), before);
}

TEST(FourSystemsTest, GradientsOfLeavesAreNeverCaptured_T3) {
  const Tensor x = leaf({2});
  {
    const Scope scope("scope");
    backward(square(x));
  }
  EXPECT_EQ(x.grad().item(), 4);
}

TEST(FourSystemsTest, ARevokedHandleNamesTheScope_T7) {
  Tensor x;
  const int line = __LINE__ + 2;
  {
    const Scope scope("the step");
    x = row({1});
  }
  const std::string text = refusal<UseAfterRelease>([&] { x.item(); });
  EXPECT_THAT(text, HasSubstr("the step"));
  EXPECT_THAT(text,
              HasSubstr("torchsharp_scope_test.cpp:" + std::to_string(line)));
  EXPECT_THROW(x * 2.0, UseAfterRelease);
  EXPECT_THROW(backward(x), UseAfterRelease);
}

TEST(FourSystemsTest, ParametersAndOptimizerStateOutliveTheScope_T8) {
  std::optional<nn::Linear> layer;
  std::optional<optim::Adam> adam;
  {
    const Scope scope("scope");
    layer.emplace(3, 2);
    adam.emplace(layer->parameters());
    for (int i = 0; i < 2; ++i) {
      backward(sum((*layer)(ones({4, 3}))));
      adam->step();
    }
  }
  EXPECT_EQ(layer->parameter("weight").element_count(), 6);
  EXPECT_TRUE(layer->parameter("weight").grad().defined());
  adam->step();
  adam->zero_grad();
  EXPECT_EQ((*layer)(ones({4, 3})).size(1), 2);
}

TEST(FourSystemsTest, CountsWhatIsMadeAndReleasedInsideAndOutside_T4) {
  reset_scope_stats();
  const std::int64_t at_start = scope_stats().live;
  const Tensor outside = row({1, 2});
  Tensor detached;
  {
    Scope scope("scope");
    const Tensor a = row({1, 2});
    const Tensor b = neg(a);
    detached = row({1, 2});
    scope.detach(detached);
    scope.attach(outside);
  }
  const memory::ScopeStats stats = scope_stats();
  EXPECT_EQ(stats.created_outside, 1);
  EXPECT_EQ(stats.created_in_scope, 3);
  EXPECT_EQ(stats.released_in_scope, 3);
  EXPECT_EQ(stats.released_outside, 0);
  EXPECT_EQ(stats.attached, 1);
  EXPECT_EQ(stats.detached, 1);
  EXPECT_EQ(stats.live - at_start, 1);
  EXPECT_GE(stats.peak_live - at_start, 4);
  EXPECT_EQ(stats.growth_bytes(), 16);
}

TEST(FourSystemsTest, ResetOneStepPrintFindsALeakAndItsKind_T4) {
  std::vector<Tensor> list;
  const auto step = [&list](bool leaks) {
    Scope scope("step");
    const Tensor y = row({1, 2}) * 2.0;
    if (leaks) {
      scope.detach(y);
      list.push_back(y);
    }
  };
  for (const bool leaks : {false, true}) {
    reset_scope_stats();
    step(leaks);
    const std::string line = std::string(scope_stats().format());
    EXPECT_THAT(line, Not(HasSubstr("\n")));
    EXPECT_EQ(scope_stats().growth(), leaks ? 1 : 0) << line;
    EXPECT_EQ(scope_stats().detached, leaks ? 1 : 0) << line;
  }
}

TEST(FourSystemsTest, CountsAreExactAcrossThreads_T4) {
  reset_process_scope_stats();
  const std::int64_t at_start = process_scope_stats().live;
  std::array<Tensor, 4> handed;
  std::vector<std::thread> threads;
  for (Tensor& slot : handed) {
    threads.emplace_back([&slot] {
      const Scope scope("thread");
      for (int i = 0; i < 100; ++i) {
        row({1});
      }
      const memory::OutsideScopes outside;
      slot = row({1});
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(process_scope_stats().created_in_scope, 400);
  EXPECT_EQ(process_scope_stats().released_in_scope, 400);
  EXPECT_EQ(process_scope_stats().created_outside, 4);
  EXPECT_EQ(process_scope_stats().live - at_start, 4);
  handed = {};  // in another thread than they were made in
  EXPECT_EQ(process_scope_stats().live, at_start);
}

}  // namespace
}  // namespace neap::four_systems
