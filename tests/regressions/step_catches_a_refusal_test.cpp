// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that caught the TraceError of what it may not do went on with another
// value than the plain function has.
#include <gmock/gmock.h>

#include "neap/compile/compile_for_test.hpp"
#include "neap/memory/budget.hpp"
#include "neap/memory/scope.hpp"
#include "neap/nn/linear.hpp"
#include "neap/optim/sgd.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

class StepCatchesARefusalTest : public ::testing::Test {
 protected:
  template <class Ask>
  void expect_refused(const Ask& ask, const char* words) const {
    auto step = neap::compile([&](const Tensor& x) {
      double factor = 3.0;
      try {
        factor = ask(x);
      } catch (const Error&) {
        factor = 4.0;
      }
      return x * factor;
    });
    EXPECT_THAT([&] { step(x_); }, ThrowsMessage<TraceError>(HasSubstr(words)));
    EXPECT_EQ(step.programs(), 0);
  }

  Tensor x_ = full({2}, 1.0);
};

TEST_F(StepCatchesARefusalTest, ItIsRefusedAllTheSame) {
  const nn::Linear layer(2, 2);
  optim::SGD sgd(layer.parameters(), {.lr = 0.5});
  const Scope scope;
  expect_refused([](const Tensor& x) { return sum(x).item(); }, "item:");
  expect_refused([&](const Tensor&) { return sgd.lr(); }, "lr:");
  expect_refused(
      [&](const Tensor&) { return static_cast<double>(scope.size()); },
      "size:");
}

// Also where nothing is recorded after it.
TEST_F(StepCatchesARefusalTest, ItIsRefusedAtTheEnd) {
  auto step = neap::compile([](const Tensor& x) {
    const Tensor y = x * 2.0;
    try {
      sum(x).item();
    } catch (const TraceError&) {
      return y;
    }
    return x;
  });
  EXPECT_THAT([&] { step(x_); }, ThrowsMessage<TraceError>(HasSubstr("item:")));
}

TEST_F(StepCatchesARefusalTest, AnotherErrorMayBeCaught) {
  auto step = neap::compile([](const Tensor& x) {
    try {
      return reshape(x, {3});
    } catch (const ShapeError&) {
      return x * 2.0;
    }
  });
  EXPECT_THAT(floats(step(x_)), Each(2.0F));
}

// Each run would have held as much as it liked.
TEST_F(StepCatchesARefusalTest, ABudgetOfTheStepsIsRefused) {
  auto step = neap::compile([](const Tensor& x) {
    const Budget budget(kMiB);
    return x * 2.0;
  });
  EXPECT_THAT([&] { step(x_); },
              ThrowsMessage<TraceError>(HasSubstr("Budget:")));
}

// The inner step's own budget is no question of the outer one's.
TEST_F(StepCatchesARefusalTest, AStepWithABudgetMayBePartOfAnother) {
  auto inner = neap::compile([](const Tensor& x) { return x * 2.0; },
                             {.budget = 64 * kGiB});
  auto step = neap::compile([&](const Tensor& x) { return inner(x) + 1.0; });
  EXPECT_THAT(floats(step(x_)), Each(3.0F));
}

}  // namespace
}  // namespace neap::compiler
