// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A step that asked who holds a tensor of before, or how often it was written,
// went on with the answer of its trace.
#include <gmock/gmock.h>

#include "neap/graph/vertex.hpp"
#include "step_questions.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;

class StepAsksWhoHoldsTest : public ::testing::Test {
 protected:
  template <class Ask>
  static void expect_refused(const Ask& ask, const char* words) {
    expect_question_refused(ask, words, "step_asks_who_holds_");
  }

  Tensor x_ = full({2}, 1.0);
  Tensor k_ = full({2}, 5.0);
};

TEST_F(StepAsksWhoHoldsTest, TheIdentityOfATensorOfBeforeIsRefused) {
  const Tensor other = k_.alias();
  expect_refused(
      [&](const Tensor&, const Tensor&) {
        return k_.identity() == other.identity();
      },
      "identity:");
  expect_refused([](const Tensor& x,
                    const Tensor& y) { return x.identity() == y.identity(); },
                 "identity:");
}

TEST_F(StepAsksWhoHoldsTest, OtherHandlesToATensorOfBeforeAreRefused) {
  expect_refused([&] { return k_.has_sole_handle(); }, "has_sole_handle:");
  expect_refused([&] { return k_.is_sole_owner(); }, "is_sole_owner:");
  expect_refused(
      [](const Tensor& x, const Tensor&) { return x.has_sole_handle(); },
      "has_sole_handle:");
  expect_refused(
      [](const Tensor& x, const Tensor&) { return x.is_sole_owner(); },
      "is_sole_owner:");
}

TEST_F(StepAsksWhoHoldsTest, TheGradientOfALeafIsOfBefore) {
  const Tensor w = requires_grad_(full({2}, 3.0));
  set_grad(w, x_);
  expect_refused([&] { return w.grad().is_sole_owner(); }, "is_sole_owner:");
}

// The trace holds what the host made in it, until it is over.
TEST_F(StepAsksWhoHoldsTest, TheOwnerOfWhatTheHostMadeIsRefused) {
  const auto ask = [](const Tensor& x, const Tensor&) {
    const Tensor made = neap::from_values({1.0, 2.0}, {2});
    return made.is_sole_owner() && x.rank() == 1;
  };
  expect_refused(ask, "is_sole_owner:");
}

TEST_F(StepAsksWhoHoldsTest, HowOftenElementsWereWrittenIsRefused) {
  expect_refused([&] { return k_.array()->storage()->version() > 0; },
                 "version:");
}

// The holders of what the step creates are the same in every run.
TEST_F(StepAsksWhoHoldsTest, AStepsOwnTensorsAnswerAsEver) {
  const auto function = [](const Tensor& x) {
    const Tensor y = x * 2.0;
    const bool was_alone = y.has_sole_handle() && y.is_sole_owner();
    const Tensor copy = y;
    const Tensor part = y.detach();
    const bool is_right =
        was_alone && !y.has_sole_handle() && !part.is_sole_owner() &&
        y.identity() == copy.identity() && y.identity() != part.identity();
    return is_right ? y + 1.0 : y;
  };
  EXPECT_THAT(floats(function(x_)), Each(3.0F));
  auto step = neap::compile(function);
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(floats(step(x_)), Each(3.0F));
  }
  EXPECT_EQ(step.traces(), 1);
}

}  // namespace
}  // namespace neap::compiler
