// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A backward whose leaves had all been frozen did nothing and said nothing; a
// tangent of integers was zero; an op that was moved from ended the process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/functional.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/custom_op.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Tensor leaf() {
  return requires_grad_(full({4}, 0.5));
}

TEST(FrozenLeavesTest, BackwardRefusesWhenNoLeafWantsAGradientAnyMore) {
  const Tensor x = leaf();
  const Tensor y = sum(mul(x, x));
  requires_grad_(x, false);
  EXPECT_THAT([&] { backward(y); },
              ThrowsMessage<GraphError>(HasSubstr("requires_grad_")));
  requires_grad_(x, true);
  backward(y);  // it was not consumed
  EXPECT_EQ(x.grad().at({0}), 1.0);
}

TEST(FrozenLeavesTest, OneLeafThatWantsAGradientIsEnough) {
  const Tensor x = leaf();
  const Tensor w = leaf();
  const Tensor y = sum(mul(x, w));
  requires_grad_(x, false);
  backward(y);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(w.grad().at({0}), 0.5);
}

TEST(FrozenLeavesTest, HooksAndKeptGradientsAreAReasonToWalk) {
  const Tensor x = leaf();
  const Tensor y = sum(mul(x, x));
  int calls = 0;
  register_hook(y, [&calls](const Tensor&) { ++calls; });
  requires_grad_(x, false);
  EXPECT_NO_THROW(backward(y));
  EXPECT_EQ(calls, 1);
}

TEST(IntegerPrimalTest, ForwardModeRefusesWhatReverseModeRefuses) {
  const Tensor n = arange(4, i64);
  const auto value = [](const Tensor& x) { return sum(cast(x, f32)); };
  EXPECT_THROW(vjp(value, n), DTypeError);
  EXPECT_THROW(jvp(value, n, arange(4, i64)), DTypeError);
  EXPECT_THROW(jvp(value, n, Tensor()), DTypeError);
  EXPECT_THROW(hvp(value, n, arange(4, i64)), DTypeError);
  EXPECT_THROW(jacobian(value, n, {.mode = JacobianMode::kForward}),
               DTypeError);
  EXPECT_THROW(directional_derivative(value, n, {arange(4, i64)}), DTypeError);
}

struct Twice {
  static constexpr std::string_view name = "twice";
  static constexpr int inputs = 1;
  static void shape(CustomOp::Specs in, CustomOp::OutSpecs out) {
    out[0] = in[0];
  }
  static void forward(const CustomOp::Forward& c) noexcept {
    const auto x = c.values<float>(0);
    const auto y = c.results<float>();
    for (std::size_t i = 0; i < x.size(); ++i) {
      y[i] = 2 * x[i];
    }
  }
};

TEST(MovedFromTest, ACustomOpRefusesEveryUse) {
  CustomOp twice{Twice{}};
  const CustomOp other = std::move(twice);
  const Tensor x = ones({4});
  EXPECT_THROW(twice(x), UseAfterRelease);  // NOLINT(bugprone-use-after-move)
  EXPECT_THROW(twice.all({x}), UseAfterRelease);
  EXPECT_THROW(twice.op(), UseAfterRelease);
  EXPECT_EQ(other(x).at({0}), 2.0);
}

}  // namespace
}  // namespace neap
