// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// layer_norm and its derivatives give PyTorch's figures.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/layer_norm.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

#include "neap/ops/norm_figures.inc"

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
    EXPECT_NEAR(values[i], want[i], 1e-13) << i;
  }
}

TEST(NormFiguresTest, LayerNormIsPyTorchs) {
  const Tensor inputs[] = {
      array({3, 2, 4}, [](double i) { return 2 * std::sin(1.3 * i + 0.4); }),
      array({2, 4}, [](double i) { return 1 + 0.1 * i; }),
      array({2, 4}, [](double i) { return 0.5 - 0.2 * i; })};
  for (const Tensor& input : inputs) {
    requires_grad_(input);
  }
  const Tensor y = layer_norm(inputs[0], {2, 4}, inputs[1], inputs[2]);
  const Tensor g = array({3, 2, 4}, [](double i) { return std::cos(0.9 * i); });
  const auto d =
      grad(std::span(&y, 1), inputs, {.cotangents = std::span(&g, 1)});
  expect_near(y, kY);
  expect_near(d[0], kDx);
  expect_near(d[1], kDw);
  expect_near(d[2], kDb);
}

}  // namespace
}  // namespace neap
