// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that removes a hook, or empties a container of tensors, that was there
// before it: the trace did so once, and no run ever again. Such a step is
// refused, and its hooks stay.
#include <gmock/gmock.h>

#include <deque>
#include <map>
#include <optional>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/memory/scope.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class StepTakesAwayTest : public ::testing::Test {
 protected:
  Tensor x_ = full({2}, 1.0);
};

TEST_F(StepTakesAwayTest, AHookStaysAndTheStepIsRefused) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  HookHandle hook =
      register_hook(w, [](const Tensor& grad) { return grad * 2.0; });
  auto step = neap::compile([&](const Tensor& x) {
    set_grad(w, {});
    backward(sum(w * x));
    hook.remove();
  });
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT([&] { step(x_); },
                ThrowsMessage<TraceError>(HasSubstr("removes the hook")));
  }
  backward(sum(w * x_));
  EXPECT_THAT(floats(w.grad()), Each(2.0F));
  hook.remove();
  set_grad(w, {});
  step(x_);  // it is gone, and removing it is nothing
  EXPECT_THAT(floats(w.grad()), Each(1.0F));
}

TEST_F(StepTakesAwayTest, AHookOfTheStepsOwnMayGo) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  auto step = neap::compile([&](const Tensor& x) {
    set_grad(w, {});
    HookHandle hook =
        register_hook(w, [](const Tensor& grad) { return grad * 2.0; });
    backward(sum(w * x));
    hook.remove();
  });
  for (int i = 0; i < 3; ++i) {
    step(x_);
    EXPECT_THAT(floats(w.grad()), Each(2.0F));
  }
  set_grad(w, {});
  backward(sum(w * x_));
  EXPECT_THAT(floats(w.grad()), Each(1.0F));
}

TEST_F(StepTakesAwayTest, ATensorOfAContainerIsMissed) {
  const auto is_refused = ThrowsMessage<TraceError>(HasSubstr("destroys"));
  std::vector<Tensor> history{full({2}, 1.0), full({2}, 2.0)};
  auto clearing = neap::compile([&](const Tensor& x) {
    history.clear();
    return x * 2.0;
  });
  EXPECT_THAT([&] { clearing(x_); }, is_refused);
  EXPECT_THAT(floats(clearing(x_)), Each(2.0F));  // nothing is left to clear

  std::deque<Tensor> queue{full({2}, 1.0), full({2}, 2.0)};
  auto popping = neap::compile([&](const Tensor& x) {
    const Tensor first = queue.front();
    queue.pop_front();
    return first * x;
  });
  EXPECT_THAT([&] { popping(x_); }, is_refused);

  std::optional<Tensor> maybe = full({2}, 1.0);
  auto resetting = neap::compile([&](const Tensor& x) {
    const Tensor sum = *maybe + x;
    maybe.reset();
    return sum;
  });
  EXPECT_THAT([&] { resetting(x_); }, is_refused);
}

// An undefined handle told nobody that it was made, and became a state.
TEST_F(StepTakesAwayTest, AContainerThatGrowsByUndefinedHandlesIsRefused) {
  const auto is_refused = ThrowsMessage<TraceError>(HasSubstr("outlives"));
  std::vector<Tensor> history;
  auto resizing = neap::compile([&](const Tensor& x) {
    history.resize(history.size() + 1);
    history.back() = x * 2.0;
  });
  EXPECT_THAT([&] { resizing(x_); }, is_refused);
  std::map<std::size_t, Tensor> seen;
  auto mapping =
      neap::compile([&](const Tensor& x) { seen[seen.size()] = x * 2.0; });
  EXPECT_THAT([&] { mapping(x_); }, is_refused);
  auto own = neap::compile([&](const Tensor& x) {
    std::vector<Tensor> all(2);
    all[0] = x * 2.0;
    all[1] = all[0] + 1.0;
    return all[1];
  });
  EXPECT_THAT(floats(own(x_)), Each(3.0F));
}

// A scope of the step's may end what was there before: once, in the trace.
TEST_F(StepTakesAwayTest, ACapturedTensorGivenToAScopeStays) {
  const auto is_refused = ThrowsMessage<TraceError>(HasSubstr("releases"));
  const Tensor captured = full({2}, 2.0);
  const Tensor copy = captured;
  auto step = neap::compile([&](const Tensor& x) {
    Tensor out;
    {
      Scope scope;
      scope.attach(captured);
      out = scope.keep(captured * x);
    }
    return out;
  });
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT([&] { step(x_); }, is_refused);
    EXPECT_THAT(floats(captured), Each(2.0F));
    EXPECT_THAT(floats(copy), Each(2.0F));
  }
}

TEST_F(StepTakesAwayTest, ARefusedCallPutsNothingIntoTheCallersScope) {
  const Tensor captured = full({2}, 2.0);
  auto step = neap::compile([&](const Tensor& x) {
    Scope scope;
    scope.attach(captured);
    return x * 2.0;
  });
  {
    const Scope iteration;
    EXPECT_THROW(step(x_), TraceError);
  }
  EXPECT_THAT(floats(captured), Each(2.0F));
}

TEST_F(StepTakesAwayTest, ACapturedTensorOfAScopeMayBeReadInOne) {
  const Scope outer;
  const Tensor captured = full({2}, 2.0);
  auto step = neap::compile([&](const Tensor& x) {
    Scope scope;
    return scope.keep(captured * x);
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(floats(step(x_)), Each(2.0F));
  }
  EXPECT_EQ(step.traces(), 1);
}

// Handles that the step or the library makes inside a step may end there.
TEST_F(StepTakesAwayTest, WhatTheStepMakesMayEnd) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  const Tensor captured = full({2}, 2.0);
  auto step = neap::compile([&](const Tensor& x) {
    std::vector<Tensor> all{captured, w, x};
    all.erase(all.begin());
    all.push_back(captured);
    std::optional<Tensor> maybe(std::move(all.back()));
    all.pop_back();
    set_grad(w, {});
    backward(sum(all[0] * all[1] * *maybe));
    const Tensor gradient = w.grad();
    maybe.reset();
    return w.grad() * gradient;
  });
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(floats(step(x_)), Each(4.0F));
  }
  EXPECT_EQ(step.traces(), 1);
}

}  // namespace
}  // namespace neap::compiler
