// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Convolutions and their derivatives give PyTorch's figures.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/conv/conv1d.hpp"
#include "neap/ops/conv/conv2d.hpp"
#include "neap/ops/conv/conv_transpose1d.hpp"
#include "neap/ops/conv/conv_transpose2d.hpp"
#include "neap/ops/figures_for_test.hpp"

namespace neap {
namespace {

using testing::elements_of;
using testing::expect_near;
using testing::wave;

constexpr double kTolerance = 1e-12;

#include "neap/ops/conv/conv_figures.inc"

struct Shapes {
  Shape x, w, bias;
};

// The result and the three cotangents, one after the other.
template <class Convolve>
void expect_figures(const Shapes& shapes, const Convolve& convolve,
                    std::span<const double> want) {
  const Tensor inputs[] = {
      wave(shapes.x, [](double i) { return std::sin(1.3 * i + 0.4); }),
      wave(shapes.w, [](double i) { return std::cos(0.7 * i); }),
      wave(shapes.bias, [](double i) { return 0.5 - 0.2 * i; })};
  for (const Tensor& input : inputs) {
    requires_grad_(input);
  }
  const Tensor y = convolve(inputs[0], inputs[1], inputs[2]);
  const Tensor g = wave(y.shape(), [](double i) { return std::cos(0.9 * i); });
  const auto d =
      grad(std::span(&y, 1), inputs, {.cotangents = std::span(&g, 1)});
  expect_near(elements_of({y, d[0], d[1], d[2]}), want, kTolerance);
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
