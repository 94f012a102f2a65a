// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A hook that runs after a leaf's gradient is in place was called with an
// undefined one where the pass reached the leaf and gave it nothing.
#include <gtest/gtest.h>

#include <string_view>

#include "neap/autograd/backward.hpp"
#include "neap/graph/hooks.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/custom_op.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

// y = a b, whose rule gives b nothing.
struct OneSided {
  static constexpr std::string_view name = "one_sided";
  static constexpr int inputs = 2;
  static constexpr bool dense = true;

  void shape(CustomOp::Specs in, CustomOp::OutSpecs out) const {
    out[0] = in[0];
  }
  void forward(const CustomOp::Forward& c) const noexcept {
    const float* a = c.input(0).as<const float>();
    const float* b = c.input(1).as<const float>();
    float* y = c.output(0).as<float>();
    for (int i = 0; i < 2; ++i) {
      y[i] = a[i] * b[i];
    }
  }
  void vjp(CustomOp::Vjp& c) const { c.set(0, c.take_cotangent()); }
};

TEST(PostAccumulateTest, ALeafThatIsGivenNothingCallsNoHook) {
  const CustomOp one_sided{OneSided()};
  const Tensor a = requires_grad_(ones({2}));
  const Tensor b = requires_grad_(ones({2}));
  int calls_of_a = 0;
  int calls_of_b = 0;
  register_post_accumulate_hook(a, [&](const Tensor& grad) {
    EXPECT_TRUE(grad.defined());
    ++calls_of_a;
  });
  register_post_accumulate_hook(b, [&](const Tensor& grad) {
    EXPECT_TRUE(grad.defined());
    ++calls_of_b;
  });
  backward(sum(one_sided(a, b)));
  EXPECT_EQ(calls_of_a, 1);
  EXPECT_EQ(calls_of_b, 0);
  set_grad(b, ones({2}));
  backward(sum(one_sided(a, b)));
  EXPECT_EQ(calls_of_a, 2);
  EXPECT_EQ(calls_of_b, 0);  // the old gradient is no news
  backward(sum(mul(a, b)));
  EXPECT_EQ(calls_of_b, 1);
}

}  // namespace
}  // namespace neap
