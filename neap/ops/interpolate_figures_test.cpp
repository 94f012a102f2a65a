// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// interpolate and its derivative give PyTorch's figures.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/interpolate.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

#include "neap/ops/interpolate_figures.inc"

constexpr auto kBilinear = Interpolation::kBilinear;

Tensor array(const Shape& shape, double (*f)(double)) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = f(static_cast<double>(i));
  }
  return from_values(values, shape, f64);
}

void expect_near(const Tensor& got, std::span<const double> want) {
  const memory::Vector<double> values = got.to_vector();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(values[i], want[i], 1e-14) << i;
  }
}

void expect_figures(const InterpolateOptions& options,
                    std::span<const double> y_figures,
                    std::span<const double> dx_figures) {
  const Tensor x = requires_grad_(array(
      {1, 2, 3, 4}, [](double i) { return 2 * std::sin(1.3 * i + 0.4); }));
  const Tensor y = interpolate(x, options);
  const Tensor g = array(y.shape(), [](double i) { return std::cos(0.9 * i); });
  backward(y, {.cotangent = g});
  expect_near(y, y_figures);
  expect_near(x.grad(), dx_figures);
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
