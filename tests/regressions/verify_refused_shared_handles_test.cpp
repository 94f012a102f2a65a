// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// .verify refused a step that did the same as ever, where handles had come to
// mean one tensor since it was traced: the values of the two traces had other
// numbers.
#include <gtest/gtest.h>

#include <array>
#include <utility>

#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/trace_test.hpp"
#include "neap/tensor/create.hpp"

namespace neap::compiler {
namespace {

class VerifySharedHandlesTest : public ::testing::Test {
 protected:
  using Handles = std::array<Tensor, 4>;

  static Handles made() {
    return {full({2}, 1.0), full({2}, 2.0), full({2}, 3.0), full({2}, 4.0)};
  }

  static void expect_same(const Handles& found, const Handles& expected,
                          int call) {
    for (std::size_t k = 0; k < found.size(); ++k) {
      EXPECT_EQ(bits_of(found[k]), bits_of(expected[k]))
          << "call " << call << ", handle " << k;
    }
  }

  // A step over handles: each call, verified, does what the plain one does.
  template <class Function>
  void expect_accepted(const Function& function, int calls = 5) {
    Handles plain = made();
    Handles handles = made();
    auto step = neap::compile(
        [&](const Tensor& x) { return function(handles, x); }, {.verify = 1});
    for (int i = 0; i < calls; ++i) {
      const Tensor x = full({2}, 0.5 + i);
      const Tensor expected = function(plain, x);
      const Tensor y = step(x);
      EXPECT_EQ(bits_of(y), bits_of(expected)) << "call " << i;
      expect_same(handles, plain, i);
    }
  }
};

TEST_F(VerifySharedHandlesTest, AHandleThatGetsTheTensorOfAnother) {
  expect_accepted([](Handles& h, const Tensor& x) {
    const Tensor y = -h[0];
    h[0] = h[1];
    return y * x;
  });
}

TEST_F(VerifySharedHandlesTest, AHandleThatGetsAViewOfAnother) {
  expect_accepted([](Handles& h, const Tensor& x) {
    const Tensor y = -h[0];
    h[0] = h[1].detach();
    return y * x + h[2];
  });
}

TEST_F(VerifySharedHandlesTest, TwoHandlesThatGetOneResult) {
  expect_accepted([](Handles& h, const Tensor& x) {
    const Tensor y = h[0] * x - h[1];
    h[0] = y;
    h[1] = y;
    return y * h[2];
  });
}

TEST_F(VerifySharedHandlesTest, AChainOfHandlesThatIsShifted) {
  expect_accepted(
      [](Handles& h, const Tensor& x) {
        const Tensor y = h[0] * x - h[1] * h[2];
        h[0] = h[1];
        h[1] = h[2];
        h[2] = h[3];
        return y;
      },
      8);
}

TEST_F(VerifySharedHandlesTest, HandlesThatAreExchanged) {
  expect_accepted([](Handles& h, const Tensor& x) {
    const Tensor y = h[0] * x - h[1];
    std::swap(h[0], h[1]);
    return y;
  });
}

TEST_F(VerifySharedHandlesTest, HandlesThatGoRound) {
  expect_accepted(
      [](Handles& h, const Tensor& x) {
        const Tensor y = h[0] * x - h[1] + h[2] * 2.0 - h[3];
        Tensor first = std::move(h[0]);
        h[0] = std::move(h[1]);
        h[1] = std::move(h[2]);
        h[2] = std::move(first);
        h[3] = h[0];
        return y;
      },
      8);
}

TEST_F(VerifySharedHandlesTest, HandlesThatAreMadeOneBetweenCalls) {
  Handles handles = made();
  auto step = neap::compile(
      [&](const Tensor& x) {
        const Tensor y = handles[0] * x - handles[1];
        handles[0] = y;
        handles[1] = y * 2.0;
        return y * 1.0;
      },
      {.verify = 1});
  const Tensor x = full({2}, 0.5);
  step(x);
  handles[0] = handles[1];
  const auto expected = bits_of(handles[0] * x - handles[1]);
  Tensor y;
  ASSERT_NO_THROW(y = step(x));
  EXPECT_EQ(bits_of(y), expected);
  ASSERT_NO_THROW(step(x));
}

TEST_F(VerifySharedHandlesTest, AnotherHandleIsStillFoundBesideSharedOnes) {
  Handles handles = made();
  std::size_t which = 0;
  auto step = neap::compile(
      [&](const Tensor& x) {
        const Tensor y = -handles[which] * x;
        handles[0] = handles[1];
        return y + handles[2];
      },
      {.verify = 1});
  const Tensor x = full({2}, 0.5);
  step(x);
  step(x);
  which = 3;
  EXPECT_THROW(step(x), TraceError);
  EXPECT_NO_THROW(step(x));
}

TEST_F(VerifySharedHandlesTest, AnotherTargetIsStillFoundBesideSharedOnes) {
  Handles handles = made();
  std::size_t which = 0;
  auto step = neap::compile(
      [&](const Tensor& x) {
        const Tensor y = -handles[0] * x + handles[3];
        handles[which] = handles[1];
        return y;
      },
      {.verify = 1});
  const Tensor x = full({2}, 0.5);
  step(x);
  step(x);
  which = 2;
  EXPECT_THROW(step(x), TraceError);
}

// A call that fills a tensor reads nothing: the place alone tells.
TEST_F(VerifySharedHandlesTest, AnotherTensorThatIsFilledIsFound) {
  Handles handles = made();
  std::size_t which = 0;
  auto step = neap::compile(
      [&](const Tensor& x) {
        const Tensor y = handles[0] + handles[1] * x;
        const Tensor part = handles[which].detach();
        fill_(part, 5.0);
        return y;
      },
      {.verify = 1});
  const Tensor x = full({2}, 0.5);
  step(x);
  step(x);
  which = 1;
  EXPECT_THROW(step(x), TraceError);
}

}  // namespace
}  // namespace neap::compiler
