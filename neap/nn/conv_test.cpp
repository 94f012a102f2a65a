// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/conv.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using ::testing::Each;

class ConvTest : public DoorTest {};

double largest(const Tensor& x) {
  double most = 0.0;
  for (const double value : x.to_vector()) {
    most = std::max(most, std::abs(value));
  }
  return most;
}

TEST_F(ConvTest, HasPyTorchsParameters) {
  const Conv2d layer(6, 8, {3, 5}, {.groups = 2});
  EXPECT_EQ(layer.parameter("weight").shape(), (Shape{8, 3, 3, 5}));
  EXPECT_EQ(layer.parameter("bias").shape(), Shape{8});
  const Conv1d line(4, 8, 3, {}, false);
  EXPECT_EQ(line.weight().shape(), (Shape{8, 4, 3}));
  EXPECT_FALSE(line.bias().defined());
  const ConvTranspose2d up(6, 8, 2, {.stride = 2, .groups = 2});
  EXPECT_EQ(up.weight().shape(), (Shape{6, 4, 2, 2}));
  EXPECT_EQ(up.bias().shape(), Shape{8});
  EXPECT_EQ(ConvTranspose1d(6, 8, 3).weight().shape(), (Shape{6, 8, 3}));
}

TEST_F(ConvTest, BeginsWithinPyTorchsBounds) {
  const Conv2d layer(16, 32, 3);
  const double bound = 1.0 / std::sqrt(16 * 9);
  EXPECT_LE(largest(layer.weight()), bound);
  EXPECT_GT(largest(layer.weight()), 0.99 * bound);
  EXPECT_LE(largest(layer.bias()), bound);
  const ConvTranspose2d up(64, 16, 3);  // of the outputs, as PyTorch has it
  EXPECT_LE(largest(up.weight()), bound);
  EXPECT_GT(largest(up.weight()), 0.99 * bound);
}

TEST_F(ConvTest, ComputesAndLearns) {
  Conv2d layer(2, 3, 3, {.stride = 2, .padding = 1});
  const Tensor y = layer(ones({4, 2, 8, 8}));
  EXPECT_EQ(y.shape(), (Shape{4, 3, 4, 4}));
  backward(sum(y));
  EXPECT_THAT(layer.bias().grad().to_vector(), Each(64.0));
  EXPECT_EQ(layer.weight().grad().at({0, 0, 1, 1}), 64.0);
  EXPECT_EQ(layer.weight().grad().at({0, 0, 0, 0}), 36.0);
  Conv1d line(2, 3, 3);
  EXPECT_EQ(line(ones({4, 2, 8})).shape(), (Shape{4, 3, 6}));
  ConvTranspose1d wider(2, 3, 3, {.stride = 2});
  EXPECT_EQ(wider(ones({4, 2, 8})).shape(), (Shape{4, 3, 17}));
}

TEST_F(ConvTest, TheTransposeUndoesTheShape) {
  Conv2d down(1, 2, 3, {.stride = 2, .padding = 1}, false);
  ConvTranspose2d up(
      2, 1, 3, {.stride = 2, .padding = 1, .output_padding = {1, 0}}, false);
  const Tensor x = ones({1, 1, 8, 7});
  EXPECT_EQ(up(down(x)).shape(), x.shape());
}

TEST_F(ConvTest, IsCloned) {
  Conv2d layer(2, 3, 3, {.padding = 1}, true, f64);
  Conv2d copy = layer.clone();
  const Tensor x = ones({1, 2, 4, 4}, f64);
  EXPECT_EQ(copy(x).to_vector(), layer(x).to_vector());
  ConvTranspose2d up(2, 3, 3, {}, false);
  EXPECT_FALSE(up.clone().bias().defined());
}

TEST_F(ConvTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW(Conv2d(0, 1, 3), ValueError);
  EXPECT_THROW(Conv2d(3, 4, 3, {.groups = 2}), ValueError);
  EXPECT_THROW(Conv2d(2, 4, {3, 0}), ValueError);
  EXPECT_THROW(Conv1d(2, 4, 3, {.stride = 0}), ValueError);
  EXPECT_THROW(ConvTranspose2d(2, 4, 3, {.padding = -1}), ValueError);
  EXPECT_THROW(Conv2d(2, 4, 3, {}, true, i32), DTypeError);
}

}  // namespace
}  // namespace neap::nn
