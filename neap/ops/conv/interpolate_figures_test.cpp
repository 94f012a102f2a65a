// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// interpolate and its derivative give PyTorch's figures.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/conv/interpolate.hpp"
#include "neap/ops/figures_for_test.hpp"

namespace neap {
namespace {

using testing::expect_near;
using testing::wave;

constexpr double kTolerance = 1e-14;

#include "neap/ops/conv/interpolate_figures.inc"

constexpr auto kBilinear = Interpolation::kBilinear;

void expect_figures(const InterpolateOptions& options,
                    std::span<const double> y_figures,
                    std::span<const double> dx_figures) {
  const Tensor x = requires_grad_(
      wave({1, 2, 3, 4}, [](double i) { return 2 * std::sin(1.3 * i + 0.4); }));
  const Tensor y = interpolate(x, options);
  const Tensor g = wave(y.shape(), [](double i) { return std::cos(0.9 * i); });
  backward(y, {.cotangent = g});
  expect_near(y, y_figures, kTolerance);
  expect_near(x.grad(), dx_figures, kTolerance);
}

TEST(InterpolateFiguresTest, NearestIsPyTorchs) {
  expect_figures({.scale = 2}, kNearestY, kNearestDx);
  expect_figures({.size = {5, 3}}, kNearestSizeY, kNearestSizeDx);
}

TEST(InterpolateFiguresTest, BilinearIsPyTorchs) {
  expect_figures({.scale = 2, .mode = kBilinear}, kBilinearY, kBilinearDx);
  expect_figures({.scale = 1.7, .mode = kBilinear}, kBilinearScaleY,
                 kBilinearScaleDx);
  expect_figures({.size = {2, 7}, .mode = kBilinear}, kBilinearSizeY,
                 kBilinearSizeDx);
  expect_figures({.size = {5, 6}, .mode = kBilinear, .align_corners = true},
                 kCornersY, kCornersDx);
}

}  // namespace
}  // namespace neap
