// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// CompileOptions::verify compares which captured handles a step reads and
// assigns to: the calls of two traces are the same where only those differ.
#include <gmock/gmock.h>

#include <array>
#include <utility>
#include <vector>

#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/trace_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

using ::testing::Each;

class CompileVerifyTest : public ::testing::Test {
 protected:
  // The host's number, which the step reads and the compiler cannot notice.
  Tensor& chosen() { return handles_[which_]; }
  Tensor& other() { return handles_[1 - which_]; }

  // Runs the step twice, exchanges the handles, and expects the next call to be
  // refused with everything as it was, and the call after it to be traced.
  template <class Function>
  void expect_exchange_is_found(const Function& function) {
    auto step = neap::compile(function, {.verify = 1});
    step(x_);
    step(x_);
    EXPECT_EQ(step.traces(), 1);
    which_ = 1;
    const auto before = bits();
    EXPECT_THROW(step(x_), TraceError);
    EXPECT_EQ(bits(), before);

    Handles plain = handles_;
    for (Tensor& handle : plain) {
      handle = copy(handle);
    }
    std::swap(handles_, plain);
    function(x_);
    std::swap(handles_, plain);
    step(x_);
    EXPECT_EQ(step.traces(), 2);
    std::swap(handles_, plain);
    const auto expected = bits();
    std::swap(handles_, plain);
    EXPECT_EQ(bits(), expected);
  }

  using Handles = std::array<Tensor, 3>;
  std::array<std::vector<std::byte>, 3> bits() const {
    return {bits_of(handles_[0]), bits_of(handles_[1]), bits_of(handles_[2])};
  }

  Tensor x_ = full({2}, 0.5);
  std::size_t which_ = 0;
  Handles handles_{full({2}, 1.0), full({2}, 7.0), zeros({2})};
};

TEST_F(CompileVerifyTest, AnotherHandleThatIsReadIsFound) {
  expect_exchange_is_found([&](const Tensor& x) { return x * chosen(); });
}

TEST_F(CompileVerifyTest, AnotherHandleThatIsReadAndAssignedToIsFound) {
  expect_exchange_is_found(
      [&](const Tensor& x) { chosen() = chosen() * 0.5 + x; });
}

TEST_F(CompileVerifyTest, AnotherHandleThatIsAssignedToUnreadIsFound) {
  expect_exchange_is_found([&](const Tensor& x) { chosen() = x * 2.0; });
}

TEST_F(CompileVerifyTest, AnotherTensorThatIsWrittenIsFound) {
  expect_exchange_is_found([&](const Tensor& x) { add_(chosen(), x); });
}

TEST_F(CompileVerifyTest, StatesThatChangePlacesAreFound) {
  expect_exchange_is_found([&](const Tensor& x) {
    chosen() = chosen() * 0.5 + x;
    other() = other() * 0.25 + x;
  });
}

// The calls are the same, and so is which result each handle gets.
TEST_F(CompileVerifyTest, StatesThatAreReadInEachOthersPlaceAreFound) {
  expect_exchange_is_found([&](const Tensor& x) {
    const std::array entries{std::move(handles_[0]), std::move(handles_[1])};
    const Tensor sum = entries[which_] * 0.5 + x;
    handles_[0] = sum;
    handles_[1] = sum * entries[1 - which_];
  });
}

TEST_F(CompileVerifyTest, TargetsThatChangePlacesAreFound) {
  expect_exchange_is_found([&](const Tensor& x) {
    chosen() = x * 2.0;
    other() = x * 3.0;
  });
}

TEST_F(CompileVerifyTest, CapturedTensorsThatChangePlacesAreFound) {
  expect_exchange_is_found(
      [&](const Tensor& x) { return x * chosen() - other(); });
}

TEST_F(CompileVerifyTest, AStateThatIsCarriedToAnotherHandleIsFound) {
  expect_exchange_is_found([&](const Tensor& x) {
    const Tensor next = handles_[2] * 0.5 + x;
    handles_[2] = next;
    chosen() = next;
  });
}

TEST_F(CompileVerifyTest, LeavesWhoseGradientsChangePlacesAreFound) {
  const std::array leaves{requires_grad_(ones({2})), requires_grad_(ones({2}))};
  auto step = neap::compile(
      [&](const Tensor& x) {
        set_grad(leaves[which_], x * 2.0);
        set_grad(leaves[1 - which_], x * 3.0);
      },
      {.verify = 1});
  step(x_);
  step(x_);
  which_ = 1;
  EXPECT_THROW(step(x_), TraceError);
  step(x_);
  EXPECT_THAT(floats(leaves[0].grad()), Each(1.5F));
  EXPECT_THAT(floats(leaves[1].grad()), Each(1.0F));
}

// While handles mean one tensor all of them count as read; later traces, in
// which they mean several, read fewer.
TEST_F(CompileVerifyTest, HandlesThatMeantOneTensorAreNoDifference) {
  handles_[1] = handles_[0];
  auto step = neap::compile(
      [&](const Tensor& x) {
        handles_[0] = handles_[0] * 0.5 + x;
        return x * 2.0;
      },
      {.verify = 1});
  for (int i = 0; i < 4; ++i) {
    step(x_);
  }
  EXPECT_LE(step.traces(), 2);
  EXPECT_THAT(floats(handles_[1]), Each(1.0F));
}

// A step that reads one of them may have read the other.
TEST_F(CompileVerifyTest, HandlesThatMeanOneTensorNowAreNoDifference) {
  auto step = neap::compile([&](const Tensor& x) { handles_[1] = x * 2.0; },
                            {.verify = 1});
  auto other = neap::compile(
      [&](const Tensor& x) {
        handles_[2] = handles_[0] + x;
        handles_[1] = x * 2.0;
      },
      {.verify = 1});
  step(x_);
  other(x_);
  handles_[1] = handles_[0];
  step(x_);
  handles_[1] = handles_[0];
  other(x_);
  EXPECT_THAT(floats(handles_[2]), Each(1.5F));
  EXPECT_EQ(other.traces(), 1);
}

TEST_F(CompileVerifyTest, StatesThatTheStepExchangesAreNoDifference) {
  auto step = neap::compile(
      [&](const Tensor& x) {
        handles_[0] = handles_[0] + x;
        std::swap(handles_[0], handles_[1]);
      },
      {.verify = 1});
  for (int i = 0; i < 4; ++i) {
    step(x_);
  }
  EXPECT_EQ(step.traces(), 1);
  EXPECT_THAT(floats(handles_[0]), Each(2.0F));
  EXPECT_THAT(floats(handles_[1]), Each(8.0F));
}

}  // namespace
}  // namespace neap::compiler
