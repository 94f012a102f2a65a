// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The pooling ops and their derivatives give PyTorch's figures.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/conv/avg_pool2d.hpp"
#include "neap/ops/conv/max_pool2d.hpp"
#include "neap/ops/figures_for_test.hpp"

namespace neap {
namespace {

using testing::expect_near;
using testing::wave;

constexpr double kTolerance = 1e-14;

#include "neap/ops/conv/pool_figures.inc"

template <class F>
void expect_figures(const F& f, std::span<const double> y_figures,
                    std::span<const double> dx_figures) {
  const Tensor x = requires_grad_(
      wave({1, 2, 7, 6}, [](double i) { return 2 * std::sin(1.3 * i + 0.4); }));
  const Tensor y = f(x);
  const Tensor g = wave(y.shape(), [](double i) { return std::cos(0.9 * i); });
  backward(y, {.cotangent = g});
  expect_near(y, y_figures, kTolerance);
  expect_near(x.grad(), dx_figures, kTolerance);
}

TEST(PoolFiguresTest, MaxPool2dIsPyTorchs) {
  expect_figures(
      [](const Tensor& x) {
        return max_pool2d(
            x, {.kernel = 3, .stride = 2, .padding = 1, .ceil_mode = true});
      },
      kMaxY, kMaxDx);
  expect_figures(
      [](const Tensor& x) {
        return max_pool2d(x, {.kernel = {2, 3},
                              .stride = {2, 1},
                              .padding = {1, 0},
                              .dilation = {3, 2}});
      },
      kMaxDilatedY, kMaxDilatedDx);
  expect_figures(
      [](const Tensor& x) {
        return adaptive_max_pool2d(x, {4, 5});
      },
      kAdaptiveMaxY, kAdaptiveMaxDx);
}

TEST(PoolFiguresTest, AvgPool2dIsPyTorchs) {
  expect_figures(
      [](const Tensor& x) {
        return avg_pool2d(
            x, {.kernel = 3, .stride = 2, .padding = 1, .ceil_mode = true});
      },
      kAverageY, kAverageDx);
  expect_figures(
      [](const Tensor& x) {
        return avg_pool2d(x, {.kernel = {3, 2},
                              .stride = 2,
                              .padding = 1,
                              .ceil_mode = true,
                              .count_include_pad = false});
      },
      kAverageInsideY, kAverageInsideDx);
  expect_figures(
      [](const Tensor& x) {
        return avg_pool2d(x, {.kernel = 2,
                              .stride = 2,
                              .padding = 1,
                              .ceil_mode = true,
                              .divisor_override = 3});
      },
      kAverageDividedY, kAverageDividedDx);
  expect_figures(
      [](const Tensor& x) {
        return adaptive_avg_pool2d(x, {3, 4});
      },
      kAdaptiveAverageY, kAdaptiveAverageDx);
}

}  // namespace
}  // namespace neap
