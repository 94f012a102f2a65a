// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// layer_norm and its derivatives give PyTorch's figures.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/figures_for_test.hpp"
#include "neap/ops/norm/layer_norm.hpp"

namespace neap {
namespace {

using testing::expect_near;
using testing::wave;

constexpr double kTolerance = 1e-13;

#include "neap/ops/norm/norm_figures.inc"

TEST(NormFiguresTest, LayerNormIsPyTorchs) {
  const Tensor inputs[] = {
      wave({3, 2, 4}, [](double i) { return 2 * std::sin(1.3 * i + 0.4); }),
      wave({2, 4}, [](double i) { return 1 + 0.1 * i; }),
      wave({2, 4}, [](double i) { return 0.5 - 0.2 * i; })};
  for (const Tensor& input : inputs) {
    requires_grad_(input);
  }
  const Tensor y = layer_norm(inputs[0], {2, 4}, inputs[1], inputs[2]);
  const Tensor g = wave({3, 2, 4}, [](double i) { return std::cos(0.9 * i); });
  const auto d =
      grad(std::span(&y, 1), inputs, {.cotangents = std::span(&g, 1)});
  expect_near(y, kY, kTolerance);
  expect_near(d[0], kDx, kTolerance);
  expect_near(d[1], kDw, kTolerance);
  expect_near(d[2], kDb, kTolerance);
}

}  // namespace
}  // namespace neap
