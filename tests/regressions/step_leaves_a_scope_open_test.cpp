// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A scope that a step opened in a captured variable stayed open after its
// trace, and none was opened by its runs.
#include <gmock/gmock.h>

#include <optional>

#include "neap/compile/compile_for_test.hpp"
#include "neap/memory/context.hpp"
#include "neap/memory/scope.hpp"
#include "neap/nn/layer.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::AllOf;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class StepLeavesAScopeOpenTest : public ::testing::Test {
 protected:
  Tensor x_ = full({2}, 1.0);
};

TEST_F(StepLeavesAScopeOpenTest, AScopeInACapturedVariableIsRefused) {
  for (const bool is_inside : {false, true}) {
    std::optional<Scope> around;
    if (is_inside) {
      around.emplace("around");
    }
    const Scope* before = Scope::current();
    std::optional<Scope> left;
    bool does_open = true;
    auto step = neap::compile([&](const Tensor& x) {
      if (does_open) {
        left.emplace("left open");
      }
      return x * 2.0;
    });
    EXPECT_THAT([&] { step(x_); },
                ThrowsMessage<TraceError>(AllOf(HasSubstr("leaves it open"),
                                                HasSubstr("left open"))));
    EXPECT_EQ(Scope::current(), before);
    EXPECT_FALSE(left->is_open());
    left.reset();
    EXPECT_EQ(Scope::current(), before);
    does_open = false;
    EXPECT_THAT(floats(step(x_)), Each(2.0F));
  }
}

// The layer's own context was that of before afterwards.
struct Opens : nn::Layer {
  Tensor forward(const Tensor& x) const override {
    left.emplace("left open");
    return x * 2.0;
  }
  mutable std::optional<Scope> left;
};

TEST_F(StepLeavesAScopeOpenTest, AScopeThatALayerLeavesOpenIsRefused) {
  Opens layer;
  auto step = neap::compile([&](const Tensor& x) { return layer(x); });
  const memory::OwnerId owner = memory::context().owner;
  EXPECT_THAT([&] { step(x_); },
              ThrowsMessage<TraceError>(HasSubstr("leaves it open")));
  EXPECT_EQ(memory::context().owner, owner);
  EXPECT_EQ(Scope::current(), nullptr);
  layer.left.reset();
  EXPECT_EQ(memory::context().owner, owner);
}

TEST_F(StepLeavesAScopeOpenTest, AStepThatThrowsLeavesNone) {
  std::optional<Scope> left;
  auto step = neap::compile([&](const Tensor& x) {
    left.emplace("left open");
    return x + full({3}, 1.0);
  });
  EXPECT_THROW(step(x_), ShapeError);
  EXPECT_EQ(Scope::current(), nullptr);
}

TEST_F(StepLeavesAScopeOpenTest, AScopeInAVariableOfTheStepsIsItsOwn) {
  std::optional<Scope> captured;
  auto step = neap::compile([&](const Tensor& x) {
    captured.emplace();
    const Tensor y = captured->keep(x * 2.0);
    captured.reset();
    return y;
  });
  for (int i = 0; i < 2; ++i) {
    EXPECT_THAT(floats(step(x_)), Each(2.0F));
  }
}

}  // namespace
}  // namespace neap::compiler
