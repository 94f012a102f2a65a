// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Losses with weights of classes and smoothed labels: a compiled step has the
// bits of the eager one.
#include <gtest/gtest.h>

#include <array>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/compile/trace_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::compiler {
namespace {

constexpr std::int64_t kRows = 70;
constexpr std::int64_t kWidth = 9;
constexpr std::int64_t kClasses = 130;

class WeightedHeadTest : public ::testing::Test {
 protected:
  template <class Loss>
  void expect_same_bits(const Loss& loss) {
    const auto step = [&](const Tensor& x, const Tensor& y) {
      const Tensor value = loss(x, y);
      backward(value);
      return value.detach();
    };
    const Tensor labels = randint(0, kClasses, {kRows});
    const Tensor x = randn({kRows, kWidth});
    const auto eager = bits_of(step(x, labels));
    const auto dw = bits_of(w_.grad());
    const auto db = bits_of(bias_.grad());
    zero_grad(std::array{w_, bias_});
    auto compiled = neap::compile(step);
    EXPECT_EQ(bits_of(compiled(x, labels)), eager);
    EXPECT_EQ(bits_of(w_.grad()), dw);
    EXPECT_EQ(bits_of(bias_.grad()), db);
  }

  Generator generator_{5};
  UseGenerator use_{generator_};
  Tensor w_ = requires_grad_(randn({kClasses, kWidth}));
  Tensor bias_ = requires_grad_(randn({kClasses}));
  CrossEntropyOptions options_{.label_smoothing = 0.1,
                               .weight = rand({kClasses})};
};

TEST_F(WeightedHeadTest, OfWholeLogits) {
  expect_same_bits([&](const Tensor& x, const Tensor& y) {
    return cross_entropy(linear(x, w_, bias_), y, options_);
  });
}

TEST_F(WeightedHeadTest, OfLogitsInBlocksOfRows) {
  expect_same_bits([&](const Tensor& x, const Tensor& y) {
    return linear_cross_entropy(x, w_, bias_, y, options_);
  });
}

}  // namespace
}  // namespace neap::compiler
