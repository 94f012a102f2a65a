// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/batch_norm.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/rematerialise.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/group_norm.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;

class BatchNormTest : public DoorTest {};

Tensor two_channels() {
  return from_values({1, 10, 3, 20, 5, 30}, {3, 2}, f64);
}

TEST_F(BatchNormTest, NamesAreThoseThatUsersOfPyTorchExpect) {
  BatchNorm2d layer(3);
  EXPECT_EQ(layer.parameter_count(), 6);
  EXPECT_THAT(layer.parameter("weight").to_vector(), Each(1.0));
  EXPECT_THAT(layer.parameter("bias").to_vector(), Each(0.0));
  EXPECT_THAT(layer.buffer("running_mean").to_vector(), Each(0.0));
  EXPECT_THAT(layer.buffer("running_var").to_vector(), Each(1.0));
  EXPECT_EQ(layer.buffer("num_batches_tracked").dtype(), i64);
  EXPECT_EQ(layer.buffer("num_batches_tracked").item(), 0);
}

TEST_F(BatchNormTest, TrainingMovesTheRunningValuesAndEvalUsesThem) {
  BatchNorm1d layer(2, {.eps = 0.0, .momentum = 0.5}, f64);
  const Tensor y = layer(two_channels());
  EXPECT_NEAR(y.at({0, 0}), -std::sqrt(1.5), 1e-15);
  EXPECT_THAT(layer.running_mean().to_vector(), ElementsAre(1.5, 10.0));
  EXPECT_NEAR(layer.running_var().at({0}), 2.5, 1e-15);
  EXPECT_NEAR(layer.running_var().at({1}), 50.5, 1e-13);
  EXPECT_EQ(layer.num_batches_tracked().item(), 1);
  layer.eval();
  const Tensor z = layer(two_channels());
  EXPECT_NEAR(z.at({2, 0}), 3.5 / std::sqrt(2.5), 1e-15);
  EXPECT_EQ(layer.num_batches_tracked().item(), 1);
}

TEST_F(BatchNormTest, WithoutMomentumTheRunningValuesAreTheMeanOfAllBatches) {
  BatchNorm1d layer(1, {.momentum = {}}, f64);
  layer(from_values({1, 3}, {2, 1}, f64));
  layer(from_values({3, 7}, {2, 1}, f64));
  layer(from_values({6, 7}, {2, 1}, f64));
  EXPECT_NEAR(layer.running_mean().item(), (2 + 5 + 6.5) / 3, 1e-14);
  EXPECT_NEAR(layer.running_var().item(), (2 + 8 + 0.5) / 3, 1e-14);
}

TEST_F(BatchNormTest, ASegmentThatRunsAgainMovesThemOnce) {
  const auto run = [](bool is_segment) {
    BatchNorm1d layer(2, {}, f64);
    const Tensor x = requires_grad_(two_channels());
    const auto block = [&](const Tensor& in) { return layer(in); };
    const auto nested = rematerialise(
        [&](const Tensor& in) { return rematerialise(block)(in); });
    const Tensor y = is_segment ? nested(x) : block(x);
    backward(sum(mul(y, y) * 0.5 + y * x));
    auto values = layer.running_var().to_vector();
    values.push_back(layer.num_batches_tracked().item());
    for (const double g : x.grad().to_vector()) {
      values.push_back(g);
    }
    return values;
  };
  EXPECT_EQ(run(true), run(false));
}

TEST_F(BatchNormTest, ARefusalLeavesTheRunningValues) {
  BatchNorm2d layer(2);
  EXPECT_THROW(layer(ones({1, 2, 1, 1})), ValueError);
  EXPECT_THROW(layer(ones({4, 3, 2, 2})), ShapeError);
  EXPECT_THROW(layer(ones({4, 2})), ShapeError);
  EXPECT_THROW(layer(ones({4, 2, 2, 2}, f64)), DTypeError);
  layer(ones({0, 2, 2, 2}));
  EXPECT_THAT(layer.running_mean().to_vector(), Each(0.0));
  EXPECT_EQ(layer.num_batches_tracked().item(), 0);
}

TEST_F(BatchNormTest, ClonesHaveBuffersOfTheirOwn) {
  BatchNorm1d layer(2, {}, f64);
  layer(two_channels());
  BatchNorm1d copy = layer.clone();
  copy(two_channels());
  EXPECT_EQ(layer.num_batches_tracked().item(), 1);
  EXPECT_EQ(copy.num_batches_tracked().item(), 2);
  EXPECT_EQ(copy.buffer("num_batches_tracked").item(), 2);
}

TEST_F(BatchNormTest, PartsMayBeLeftOut) {
  BatchNorm1d layer(2, {.affine = false, .track_running_stats = false}, f64);
  EXPECT_EQ(layer.parameter_count(), 0);
  EXPECT_TRUE(layer.buffers().empty());
  layer.eval();
  EXPECT_NEAR(layer(two_channels()).at({1, 1}), 0.0, 1e-15);
}

TEST_F(BatchNormTest, GroupNormIsOfItsGroups) {
  GroupNorm layer(2, 4, 0.0);
  EXPECT_EQ(layer.parameter_count(), 8);
  const Tensor y = layer(from_values({1, 3, 10, 30}, {1, 4}));
  EXPECT_THAT(y.to_vector(), ElementsAre(-1, 1, -1, 1));
  EXPECT_THROW(GroupNorm(3, 4), ValueError);
  EXPECT_EQ(layer.clone().parameter_count(), 8);
}

TEST_F(BatchNormTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW(BatchNorm1d(0), ValueError);
  EXPECT_THROW(BatchNorm1d(3, {.eps = -1.0}), ValueError);
  EXPECT_THROW(BatchNorm1d(3, {.momentum = 2.0}), ValueError);
  EXPECT_THROW(BatchNorm1d(3, {}, i32), DTypeError);
}

}  // namespace
}  // namespace neap::nn
