// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A traced step took every argument for a member of the scope around the call,
// and was not heard when it asked which scope that is: a state that the step
// set to an argument was released with the scope, a tensor was not moved into
// it, and a call that the plain function makes was refused.
#include <gmock/gmock.h>

#include "neap/compile/compile_for_test.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class StepArgumentsAndScopesTest : public ::testing::Test {
 protected:
  const Tensor x_ = full({2}, 1.0);  // of no scope
};

TEST_F(StepArgumentsAndScopesTest, AStateThatIsAnArgumentOfNoScopeStays) {
  Tensor h = zeros({2});
  auto step = neap::compile([&](const Tensor& x) { h = x; });
  for (int i = 0; i < 3; ++i) {
    {
      const Scope iteration;
      step(x_);
    }
    EXPECT_THAT(floats(h), Each(1.0F));
  }
  EXPECT_EQ(step.traces(), 1);
}

TEST_F(StepArgumentsAndScopesTest, AStateThatIsAnArgumentOfTheScopeEndsWithIt) {
  Tensor h = zeros({2});
  auto step = neap::compile([&](const Tensor& x) { h = x; });
  for (const bool is_inside : {false, true, false, true}) {
    {
      const Scope iteration;
      step(is_inside ? x_ * 2.0 : x_);
    }
    EXPECT_EQ(h.defined(), !is_inside);
    h = zeros({2});
  }
}

TEST_F(StepArgumentsAndScopesTest, AnArgumentThatIsWrittenAndReturnedStays) {
  auto step = neap::compile([](const Tensor& x) {
    add_(x, 1.0);
    return x;
  });
  const Tensor own = copy(x_);
  step(own);
  Tensor y;
  {
    const Scope iteration;
    y = step(own);
  }
  EXPECT_THAT(floats(y), Each(3.0F));
}

TEST_F(StepArgumentsAndScopesTest, AnArgumentOfNoScopeIsNotReleasedByOne) {
  auto step = neap::compile([](const Tensor& x) {
    if (Scope* scope = Scope::current()) {
      scope->release(x);
    }
    return x * 2.0;
  });
  const Scope iteration;
  EXPECT_THAT(floats(step(x_)), Each(2.0F));
  const Tensor own = x_ * 2.0;
  EXPECT_THAT([&] { step(own); },
              ThrowsMessage<TraceError>(HasSubstr("releases argument 0")));
  EXPECT_THAT(floats(own), Each(2.0F));
}

TEST_F(StepArgumentsAndScopesTest, AnArgumentIsNotMovedIntoAScope) {
  auto step = neap::compile([](const Tensor& x) {
    if (Scope* scope = Scope::current()) {
      scope->attach(x);
    }
    return x * 2.0;
  });
  step(x_);
  const Scope iteration;
  EXPECT_THAT([&] { step(x_); },
              ThrowsMessage<TraceError>(HasSubstr("moves argument 0")));
  EXPECT_THAT(floats(step(x_ * 1.0)), Each(2.0F));  // it is there already
}

TEST_F(StepArgumentsAndScopesTest, WhichScopeIsCurrentIsAskedAtEachCall) {
  const Tensor h = full({2}, 3.0);
  auto step = neap::compile([&](const Tensor& x) {
    if (Scope* scope = Scope::current()) {
      scope->attach(h);
    }
    return x * h;
  });
  EXPECT_THAT(floats(step(x_)), Each(3.0F));
  {
    const Scope iteration;
    EXPECT_THAT([&] { step(x_); },
                ThrowsMessage<TraceError>(HasSubstr("scope:")));
  }
  EXPECT_THAT(floats(step(x_)), Each(3.0F));
  EXPECT_THAT(floats(h), Each(3.0F));
}

// Most steps do not ask: a program made ahead serves calls in any scope.
TEST_F(StepArgumentsAndScopesTest, AStepThatDoesNotAskIsTracedOnce) {
  auto step = neap::compile([](const Tensor& x) {
    Scope scope;
    return scope.keep(x * 2.0);
  });
  step.prepare({tensor::Spec{f32, {2}}});
  step(x_);
  const Scope iteration;
  step(x_);
  step(x_ * 2.0);
  EXPECT_EQ(step.traces(), 1);
}

}  // namespace
}  // namespace neap::compiler
