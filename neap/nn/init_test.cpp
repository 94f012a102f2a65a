// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/init.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "neap/graph/vertex.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using ::testing::Each;

struct Moments {
  double mean = 0.0;
  double deviation = 0.0;
  double largest = 0.0;
};

Moments moments_of(const Tensor& tensor) {
  Moments m;
  const auto values = tensor.to_vector();
  const auto count = static_cast<double>(values.size());
  for (const double x : values) {
    m.mean += x / count;
    m.largest = std::max(m.largest, std::abs(x));
  }
  for (const double x : values) {
    m.deviation += (x - m.mean) * (x - m.mean) / count;
  }
  m.deviation = std::sqrt(m.deviation);
  return m;
}

class InitTest : public DoorTest {};

TEST_F(InitTest, FillsWithAConstant) {
  EXPECT_THAT(constant_(zeros({3}), 0.5).to_vector(), Each(0.5));
  EXPECT_THAT(constant_(zeros({3}, bf16), 0.5).to_vector(), Each(0.5));
}

TEST_F(InitTest, DrawsTheSameNumbersAsCreation) {
  const Tensor filled = uniform_(zeros({100}));
  Generator again(7);
  const UseGenerator use(again);
  EXPECT_EQ(rand({100}).to_vector(), filled.to_vector());
}

TEST_F(InitTest, DrawsByLogicalPositionWhateverTheLayout) {
  const Tensor dense = uniform_(zeros({6, 4}));
  Generator again(7);
  const UseGenerator use(again);
  const Tensor base = zeros({4, 6});
  const Tensor turned(
      tensor::Array::make(base.array()->storage(),
                          tensor::permuted(base.array()->layout(), {1, 0})));
  EXPECT_EQ(uniform_(turned).to_vector(), dense.to_vector());
}

TEST_F(InitTest, UniformLiesInItsRange) {
  const Moments m = moments_of(uniform_(zeros({20000}), -3.0, 3.0));
  EXPECT_NEAR(m.mean, 0.0, 0.05);
  EXPECT_NEAR(m.deviation, std::sqrt(3.0), 0.05);
  EXPECT_LE(m.largest, 3.0);
}

TEST_F(InitTest, NormalHasItsMoments) {
  const Moments m = moments_of(normal_(zeros({20000}, f64), 1.0, 2.0));
  EXPECT_NEAR(m.mean, 1.0, 0.05);
  EXPECT_NEAR(m.deviation, 2.0, 0.05);
}

TEST_F(InitTest, FansCountTheFieldOfAKernel) {
  const Fans fans = fans_of({8, 3, 5, 5});
  EXPECT_EQ(fans.in, 75);
  EXPECT_EQ(fans.out, 200);
  EXPECT_THROW(fans_of({8}), ShapeError);
  EXPECT_THROW(fans_of({8, 0}), ShapeError);
}

TEST_F(InitTest, XavierHasItsDeviation) {
  const double wanted = 2.0 * std::sqrt(2.0 / 300.0);
  EXPECT_NEAR(moments_of(xavier_uniform_(zeros({200, 100}), 2.0)).deviation,
              wanted, 0.01 * wanted);
  EXPECT_NEAR(moments_of(xavier_normal_(zeros({200, 100}), 2.0)).deviation,
              wanted, 0.02 * wanted);
}

TEST_F(InitTest, KaimingHasItsDeviation) {
  const double by_input = std::sqrt(2.0 / 100.0);
  EXPECT_NEAR(moments_of(kaiming_uniform_(zeros({200, 100}))).deviation,
              by_input, 0.01 * by_input);
  const double by_output = std::sqrt(2.0 / (1.25 * 200.0));
  EXPECT_NEAR(moments_of(kaiming_normal_(zeros({200, 100}),
                                         {.negative_slope = 0.5,
                                          .fan = KaimingOptions::Fan::kOut}))
                  .deviation,
              by_output, 0.02 * by_output);
}

TEST_F(InitTest, RefusesBeforeItWritesOrDraws) {
  const Tensor x = ones({2});
  const double inf = std::numeric_limits<double>::infinity();
  EXPECT_THROW(uniform_(x, 1.0, 0.0), ValueError);
  EXPECT_THROW(uniform_(x, 0.0, inf), ValueError);
  EXPECT_THROW(normal_(x, 0.0, -1.0), ValueError);
  EXPECT_THROW(kaiming_uniform_(x), ShapeError);
  EXPECT_THROW(uniform_(zeros({2}, i64)), DTypeError);
  EXPECT_THROW(constant_(mul(requires_grad_(ones({2})), 2.0), 0.0), GraphError);
  EXPECT_THAT(x.to_vector(), Each(1.0));
  EXPECT_EQ(generator_.state().draw, 0U);
}

TEST_F(InitTest, CountsAsAWriteOfTheStorage) {
  const Tensor x = zeros({2});
  const std::uint32_t before = x.array()->storage()->version();
  uniform_(x);
  EXPECT_EQ(x.array()->storage()->version(), before + 1);
}

}  // namespace
}  // namespace neap::nn
