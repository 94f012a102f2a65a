// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// batch_norm, group_norm and instance_norm give PyTorch's figures.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/figures_for_test.hpp"
#include "neap/ops/norm/batch_norm.hpp"
#include "neap/ops/norm/group_norm.hpp"

namespace neap {
namespace {

using testing::expect_near;
using testing::wave;

constexpr double kTolerance = 2e-13;

#include "neap/ops/norm/channel_norm_figures.inc"

Tensor batch(double k) {
  return wave({2, 4, 2, 3},
              [k](double i) { return 2 * std::sin(1.3 * i + 0.4 + k); });
}

class ChannelNormFiguresTest : public ::testing::Test {
 protected:
  void expect_grads(const Tensor& y, const Tensor& x,
                    std::span<const double> dx, std::span<const double> dw,
                    std::span<const double> db) {
    const Tensor g =
        wave({2, 4, 2, 3}, [](double i) { return std::cos(0.9 * i); });
    const std::array inputs{x, w_, b_};
    const auto d =
        grad(std::span(&y, 1), inputs, {.cotangents = std::span(&g, 1)});
    expect_near(d[0], dx, kTolerance);
    expect_near(d[1], dw, kTolerance);
    expect_near(d[2], db, kTolerance);
  }

  Tensor w_ = requires_grad_(wave({4}, [](double i) { return 1 + 0.1 * i; }));
  Tensor b_ = requires_grad_(wave({4}, [](double i) { return 0.5 - 0.2 * i; }));
};

TEST_F(ChannelNormFiguresTest, BatchNormIsPyTorchs) {
  const Tensor mean = zeros({4}, f64);
  const Tensor var = ones({4}, f64);
  const std::span<const double> means[] = {kMean0, kMean1, kMean2};
  const std::span<const double> vars[] = {kVar0, kVar1, kVar2};
  Tensor x;
  Tensor y;
  for (std::size_t k = 0; k < 3; ++k) {
    x = requires_grad_(batch(static_cast<double>(k)));
    y = batch_norm(x, mean, var, w_, b_, {.training = true});
    expect_near(mean, means[k], kTolerance);
    expect_near(var, vars[k], kTolerance);
  }
  expect_near(y, kY, kTolerance);
  expect_grads(y, x, kDx, kDw, kDb);
  expect_near(batch_norm(batch(0), mean, var, w_, b_), kEvalY, kTolerance);
}

TEST_F(ChannelNormFiguresTest, GroupNormIsPyTorchs) {
  const Tensor x = requires_grad_(batch(0));
  const Tensor y = group_norm(x, 2, w_, b_);
  expect_near(y, kGroupY, kTolerance);
  expect_grads(y, x, kGroupDx, kGroupDw, kGroupDb);
  expect_near(instance_norm(x, w_, b_), kInstanceY, kTolerance);
}

}  // namespace
}  // namespace neap
