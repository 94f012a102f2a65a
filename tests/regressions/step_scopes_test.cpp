// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step's actions on the scope of its results and states were done while it
// was traced, and by no run; prepare() alone released tensors of the caller's.
#include <gmock/gmock.h>

#include <optional>
#include <utility>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/composite.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class StepScopesTest : public ::testing::Test {
 protected:
  // The result of a call, after the scope around it has ended.
  template <class Step>
  Tensor result_after_scope(Step& step) const {
    const Scope iteration;
    return step(x_);
  }

  Tensor x_ = full({2}, 1.0);
};

TEST_F(StepScopesTest, AStateOutsideOfScopesStays) {
  Tensor h;
  auto step = neap::compile([&](const Tensor& x) {
    const memory::OutsideScopes apart;
    h = h.defined() ? h + x : x * 1.0;
  });
  for (const float expected : {1.0F, 2.0F, 3.0F}) {
    {
      const Scope iteration;
      step(x_);
    }
    EXPECT_THAT(floats(h), Each(expected));
  }
}

// The trace saw no scope that the state could have been taken out of.
TEST_F(StepScopesTest, AStateStaysWhereTheFirstCallWasInNoScope) {
  Tensor h = zeros({2});
  auto step = neap::compile([&](const Tensor& x) {
    h = h + x;
    memory::detach_from_scope(h);
  });
  step(x_);
  for (const float expected : {2.0F, 3.0F, 4.0F}) {
    {
      const Scope iteration;
      step(x_);
    }
    EXPECT_THAT(floats(h), Each(expected));
  }
  EXPECT_EQ(step.traces(), 2);
}

TEST_F(StepScopesTest, AResultTakenOutOfScopesStays) {
  auto step = neap::compile(
      [](const Tensor& x) {
        Scope scope;
        Tensor y = x * 2.0;
        scope.detach(y);
        return y;
      },
      {.keep_all = true});
  for (int i = 0; i < 3; ++i) {
    Tensor y;
    {
      const Scope iteration;
      y = step(x_);
    }
    EXPECT_THAT(floats(y), Each(2.0F));
  }
}

// The trace saw no scope that the result could have been a member of.
TEST_F(StepScopesTest,
       AResultMadeOutsideScopesStaysWhereTheFirstCallWasInNone) {
  auto step = neap::compile(
      [](const Tensor& x) {
        const memory::OutsideScopes apart;
        return x * 2.0;
      },
      {.keep_all = true});
  step(x_);
  EXPECT_THAT(floats(result_after_scope(step)), Each(2.0F));
  EXPECT_EQ(step.traces(), 1);
}

TEST_F(StepScopesTest, AResultKeptByAScopeOutsideScopesStays) {
  auto step = neap::compile(
      [](const Tensor& x) {
        const memory::OutsideScopes apart;
        Scope scope;
        return scope.keep(x * 2.0);
      },
      {.keep_all = true});
  step(x_);
  EXPECT_THAT(floats(result_after_scope(step)), Each(2.0F));
}

// The first caller's block is no doing of the step.
TEST_F(StepScopesTest, AResultIsALaterScopesWhereTheFirstCallWasOutsideScopes) {
  auto step = neap::compile([](const Tensor& x) { return x * 2.0; },
                            {.keep_all = true});
  {
    const memory::OutsideScopes apart;
    step(x_);
  }
  EXPECT_FALSE(result_after_scope(step).defined());
}

TEST_F(StepScopesTest, AResultMovedToTheCallersScopeIsItsMember) {
  const auto function = [](const Tensor& x) {
    Scope scope;
    Tensor y;
    {
      const memory::OutsideScopes apart;
      y = x * 2.0;
    }
    scope.attach(y);
    scope.move_to_outer(y);
    return y;
  };
  auto step = neap::compile(function, {.keep_all = true});
  step(x_);
  Tensor eager;
  Tensor compiled;
  {
    const Scope iteration;
    eager = function(x_);
    compiled = step(x_);
    EXPECT_THAT(floats(compiled), Each(2.0F));
  }
  EXPECT_FALSE(eager.defined());
  EXPECT_FALSE(compiled.defined());
}

TEST_F(StepScopesTest, AGradientThatIsReturnedIsInTheScopeOfAnEagerOne) {
  const auto function = [](const Tensor& x) {
    Tensor w = requires_grad_(full({2}, 3.0));
    return grad(sum(w * x), {w}).take(0);
  };
  auto step = neap::compile(function, {.keep_all = true});
  step(x_);
  Tensor eager;
  Tensor compiled;
  {
    const Scope iteration;
    eager = function(x_);
    compiled = step(x_);
  }
  EXPECT_EQ(eager.defined(), compiled.defined());
}

TEST_F(StepScopesTest, AResultKeptByTheCallersScopeMovesToItsOuterOne) {
  auto step = neap::compile(
      [](const Tensor& x) {
        Tensor y = x * 2.0;
        return Scope::current()->keep(y);
      },
      {.keep_all = true});
  for (int i = 0; i < 3; ++i) {
    Tensor y;
    {
      const Scope outer;
      {
        const Scope iteration;
        y = step(x_);
      }
      EXPECT_THAT(floats(y), Each(2.0F));
    }
    EXPECT_FALSE(y.defined());
  }
}

TEST_F(StepScopesTest, TensorsOfTheCallersAreNotFreed) {
  Scope epoch;
  const Tensor temporary = x_ * 3.0;
  auto step = neap::compile([&](const Tensor& x) {
    Tensor y = x * 2.0;
    epoch.release_all_but(y);
    return y;
  });
  const auto is_refused = ThrowsMessage<TraceError>(HasSubstr("releases"));
  EXPECT_THAT([&] { step.prepare({tensor::Spec{f32, {2}}}); }, is_refused);
  EXPECT_THAT([&] { step(x_); }, is_refused);
  EXPECT_THAT(floats(temporary), Each(3.0F));
  epoch.release_all();
  EXPECT_FALSE(temporary.defined());
}

TEST_F(StepScopesTest, CapturedTensorsAndArgumentsStayInTheirScopes) {
  const auto is_refused = ThrowsMessage<TraceError>(HasSubstr("scope:"));
  const Tensor k = full({2}, 2.0);
  const auto refuses = [&](auto act) {
    auto step = neap::compile([&](const Tensor& x) {
      Tensor y = x * k;
      act(x);
      return y;
    });
    const Scope outer;
    Scope scope;
    scope.attach(k);
    const Tensor argument = x_ * 1.0;
    EXPECT_THAT([&] { step.prepare({tensor::Spec{f32, {2}}}); }, is_refused);
    EXPECT_THAT([&] { step(argument); }, is_refused);
    EXPECT_EQ(scope.size(), 2);
    scope.detach(k);
  };
  refuses([&](const Tensor&) { memory::detach_from_scope(k); });
  refuses([&](const Tensor&) { Scope::current()->move_to_outer(k); });
  refuses([&](const Tensor&) { Scope::current()->keep(k); });
  refuses([](const Tensor& x) { memory::detach_from_scope(x); });
  refuses([](const Tensor& x) { Scope::current()->release(x); });
  refuses([](const Tensor& x) { Scope::current()->keep(x); });
  EXPECT_THAT(floats(k), Each(2.0F));
}

TEST_F(StepScopesTest, WhatIsOfNoScopeMayBeTakenOutOfScopes) {
  const Tensor k = full({2}, 2.0);
  auto step = neap::compile([&](const Tensor& x) {
    memory::detach_from_scope(k);
    return x * k;
  });
  for (int i = 0; i < 2; ++i) {
    const Scope scope;
    EXPECT_THAT(floats(step(x_)), Each(2.0F));
  }
}

// It was closed for good by a call that was refused, or by the trace alone.
TEST_F(StepScopesTest, AScopeThatTheStepClosesStaysOpen) {
  for (const bool has_member : {false, true}) {
    Scope outer;
    Scope scope;
    const Tensor member = has_member ? x_ * 3.0 : Tensor();
    auto step = neap::compile([&](const Tensor& x) {
      scope.close();
      return x * 2.0;
    });
    EXPECT_THAT([&] { step(x_); },
                ThrowsMessage<TraceError>(HasSubstr("closes the scope")));
    EXPECT_TRUE(scope.is_open());
    EXPECT_EQ(Scope::current(), &scope);
    EXPECT_EQ(member.defined(), has_member);
    const Tensor next = x_ * 1.0;
    EXPECT_EQ(scope.size(), has_member ? 2 : 1);
    scope.close();
    EXPECT_FALSE(next.defined());
    EXPECT_EQ(Scope::current(), &outer);
  }
}

TEST_F(StepScopesTest, AScopeThatTheStepEndsIsNoticed) {
  std::optional<Scope> scope(std::in_place);
  auto step = neap::compile([&] {
    scope.reset();
    return x_ * 2.0;
  });
  EXPECT_THAT([&] { step(); },
              ThrowsMessage<TraceError>(HasSubstr("closes the scope")));
}

struct Pair : Composite {
  Pair(const Tensor& a, const Tensor& b) : one(a), other(b) { absorb(a, b); }
  Tensor one;
  Tensor other;
};

// Its parts came back, and it did not.
TEST_F(StepScopesTest, ACompositeThatTheStepReleasesIsStillThere) {
  Scope scope;
  const Pair pair(x_ * 2.0, x_ * 3.0);
  EXPECT_EQ(scope.size(), 1);
  const auto refuses = [&](auto act) {
    auto step = neap::compile([&](const Tensor& /*x*/) {
      act();
      return full({2}, 2.0);
    });
    EXPECT_THAT([&] { step(x_); },
                ThrowsMessage<TraceError>(HasSubstr("releases")));
    EXPECT_TRUE(pair.defined());
    EXPECT_THAT(floats(pair.one), Each(2.0F));
    EXPECT_THAT(floats(pair.other), Each(3.0F));
    EXPECT_EQ(scope.size(), 1);
  };
  refuses([&] { scope.release(pair); });
  refuses([&] { scope.release_all(); });
  scope.close();
  EXPECT_FALSE(pair.defined());
  EXPECT_FALSE(pair.one.defined());
}

TEST_F(StepScopesTest, ACompositeThatTheStepMovesStaysInItsScope) {
  Scope outer;
  Scope scope;
  const Pair pair(x_ * 2.0, x_ * 3.0);
  const auto refuses = [&](auto act) {
    auto step = neap::compile([&](const Tensor& x) {
      act();
      return x * 2.0;
    });
    EXPECT_THAT([&] { step(x_); },
                ThrowsMessage<TraceError>(HasSubstr("moves a composite")));
    EXPECT_EQ(Scope::of(pair.scope_member()), &scope);
    EXPECT_FALSE(scope.keeps(pair.scope_member()));
  };
  refuses([&] { scope.keep(pair); });
  refuses([&] { scope.move_to_outer(pair); });
  refuses([&] { scope.detach(pair); });
  refuses([&] {
    Scope inner;
    inner.attach(pair);
  });
}

// It was of no scope afterwards where another one than its own was current.
TEST_F(StepScopesTest, ATensorThatTheStepReleasesStaysInItsScope) {
  Scope epoch;
  const Tensor first = x_ * 3.0;
  const Tensor second = x_ * 4.0;
  auto step = neap::compile([&](const Tensor& x) {
    epoch.release(first);
    epoch.release_all();
    return x * 2.0;
  });
  {
    const Scope iteration;
    EXPECT_THAT([&] { step(x_); },
                ThrowsMessage<TraceError>(HasSubstr("releases")));
  }
  EXPECT_EQ(epoch.size(), 2);
  EXPECT_THAT(floats(second), Each(4.0F));
  epoch.close();
  EXPECT_FALSE(first.defined());
  EXPECT_FALSE(second.defined());
}

TEST_F(StepScopesTest, TheStepsOwnTensorsAreReleasedInACapturedScope) {
  for (int i = 0; i < 3; ++i) {
    Scope iteration;
    auto step = neap::compile([&](const Tensor& x) {
      Tensor y = x * 2.0;
      const Pair pair(x * 3.0, x * 4.0);
      iteration.release(pair);
      iteration.release(x * 5.0, pair.one);
      return y + 1.0;
    });
    EXPECT_THAT(floats(step(x_)), Each(3.0F));
  }
}

TEST_F(StepScopesTest, ARetainedGradientIsOfNoScope) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  auto step = neap::compile(
      [&](const Tensor& x) {
        Tensor y = sum(w * x);
        retain_grad(y);
        backward(y);
        return y;
      },
      {.keep_all = true});
  for (int i = 0; i < 2; ++i) {
    Tensor y;
    {
      Scope scope;
      y = scope.keep(step(x_));
    }
    EXPECT_THAT(floats(y.grad()), Each(1.0F));
  }
}

}  // namespace
}  // namespace neap::compiler
