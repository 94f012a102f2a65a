// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/norm.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using memory::Category;
using ::testing::Each;
using ::testing::ElementsAre;

class NormTest : public DoorTest {};

TEST_F(NormTest, LayerNormBeginsWithOnesAndZeros) {
  LayerNorm layer({2, 3});
  EXPECT_EQ(layer.parameter_count(), 12);
  EXPECT_THAT(layer.parameter("weight").to_vector(), Each(1.0));
  EXPECT_THAT(layer.parameter("bias").to_vector(), Each(0.0));
  const Tensor y = layer(from_values({0, 2, 0, 2, 0, 2}, {1, 2, 3}));
  EXPECT_NEAR(y.at({0, 1, 2}), 1.0 / std::sqrt(1.0 + 1e-5), 1e-6);
}

TEST_F(NormTest, LayerNormLearnsWeightAndBias) {
  LayerNorm layer({2}, 0.0);
  backward(sum(layer(from_values({1, 3, 5, 1}, {2, 2}))));
  EXPECT_THAT(layer.weight().grad().to_vector(), ElementsAre(0.0, 0.0));
  EXPECT_THAT(layer.bias().grad().to_vector(), ElementsAre(2.0, 2.0));
}

TEST_F(NormTest, ParametersMayBeLeftOut) {
  EXPECT_EQ(LayerNorm({4}, 1e-5, false).parameter_count(), 0);
  EXPECT_EQ(LayerNorm({4}, 1e-5, true, false).parameter_count(), 4);
  EXPECT_EQ(RMSNorm({4}, {}, false).parameter_count(), 0);
}

TEST_F(NormTest, RmsNormDividesByTheRootOfTheMeanSquare) {
  RMSNorm layer({2}, 0.0, true, f64);
  const Tensor y = layer(from_values({1, 7}, {1, 2}, f64));
  EXPECT_DOUBLE_EQ(y.at({0, 0}), 1.0 / 5.0);
  EXPECT_DOUBLE_EQ(y.at({0, 1}), 7.0 / 5.0);
  EXPECT_EQ(layer.weight().dtype(), f64);
}

TEST_F(NormTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW(LayerNorm({}), ShapeError);
  EXPECT_THROW(RMSNorm({3, 0}), ShapeError);
  EXPECT_THROW(LayerNorm({3}, -1.0), ValueError);
  EXPECT_THROW(RMSNorm({3}, {}, true, i32), DTypeError);
}

}  // namespace
}  // namespace neap::nn
