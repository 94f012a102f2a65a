// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolutions and their derivatives give PyTorch's figures.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/conv1d.hpp"
#include "neap/ops/conv2d.hpp"
#include "neap/ops/conv_transpose1d.hpp"
#include "neap/ops/conv_transpose2d.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

#include "neap/ops/conv_figures.inc"

Tensor array(const Shape& shape, double (*f)(double)) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = f(static_cast<double>(i));
  }
  return from_values(values, shape, f64);
}

struct Shapes {
  Shape x, w, bias;
};

// The result and the three cotangents, one after the other.
template <class Convolve>
void expect_figures(const Shapes& shapes, const Convolve& convolve,
                    std::span<const double> want) {
  const Tensor inputs[] = {
      array(shapes.x, [](double i) { return std::sin(1.3 * i + 0.4); }),
      array(shapes.w, [](double i) { return std::cos(0.7 * i); }),
      array(shapes.bias, [](double i) { return 0.5 - 0.2 * i; })};
  for (const Tensor& input : inputs) {
    requires_grad_(input);
  }
  const Tensor y = convolve(inputs[0], inputs[1], inputs[2]);
  const Tensor g = array(y.shape(), [](double i) { return std::cos(0.9 * i); });
  const auto d =
      grad(std::span(&y, 1), inputs, {.cotangents = std::span(&g, 1)});
  std::vector<double> got;
  for (const Tensor& t : {y, d[0], d[1], d[2]}) {
    const memory::Vector<double> values = t.to_vector();
    got.insert(got.end(), values.begin(), values.end());
  }
  ASSERT_EQ(got.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(got[i], want[i], 1e-12) << i;
  }
}

TEST(ConvFiguresTest, Conv2dIsPyTorchs) {
  expect_figures(
      {{1, 4, 4, 3}, {4, 2, 3, 2}, {4}},
      [](const Tensor& x, const Tensor& w, const Tensor& bias) {
        return conv2d(x, w, bias,
                      {.stride = {2, 1},
                       .padding = {1, 2},
                       .dilation = {1, 2},
                       .groups = 2});
      },
      kConv2d);
}

TEST(ConvFiguresTest, Conv1dIsPyTorchs) {
  expect_figures(
      {{2, 3, 7}, {4, 3, 3}, {4}},
      [](const Tensor& x, const Tensor& w, const Tensor& bias) {
        return conv1d(x, w, bias, {.stride = 2, .padding = 1});
      },
      kConv1d);
}

TEST(ConvFiguresTest, ConvTranspose2dIsPyTorchs) {
  expect_figures(
      {{1, 4, 3, 2}, {4, 1, 3, 2}, {2}},
      [](const Tensor& x, const Tensor& w, const Tensor& bias) {
        return conv_transpose2d(x, w, bias,
                                {.stride = {2, 3},
                                 .padding = {1, 0},
                                 .output_padding = {1, 2},
                                 .dilation = {1, 2},
                                 .groups = 2});
      },
      kConvTranspose2d);
}

TEST(ConvFiguresTest, ConvTranspose1dIsPyTorchs) {
  expect_figures(
      {{2, 3, 4}, {3, 2, 3}, {2}},
      [](const Tensor& x, const Tensor& w, const Tensor& bias) {
        return conv_transpose1d(
            x, w, bias, {.stride = 2, .padding = 1, .output_padding = 1});
      },
      kConvTranspose1d);
}

}  // namespace
}  // namespace neap
