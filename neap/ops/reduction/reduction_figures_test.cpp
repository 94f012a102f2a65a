// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Reductions and their derivatives give PyTorch's figures.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/figures_for_test.hpp"
#include "neap/ops/reduction/cumsum.hpp"
#include "neap/ops/reduction/extremes.hpp"
#include "neap/ops/reduction/logsumexp.hpp"
#include "neap/ops/reduction/norm.hpp"
#include "neap/ops/reduction/prod.hpp"
#include "neap/ops/reduction/sort.hpp"
#include "neap/ops/reduction/var.hpp"

namespace neap {
namespace {

using testing::elements_of;
using testing::expect_near;
using testing::wave;

constexpr double kTolerance = 1e-13;

#include "neap/ops/reduction/reduction_figures.inc"

// The result and the gradient of x, one after the other, are `want`.
template <class Function>
void expect_figures(const Function& function, std::span<const double> want) {
  const Tensor x = wave({2, 3, 4}, [](double i) {
    const bool is_zero = i == 5 || i == 6 || i == 14;
    return is_zero ? 0.0 : 2 * std::sin(1.3 * i + 0.4);
  });
  requires_grad_(x);
  const Tensor y = function(x);
  const Tensor g = wave(y.shape(), [](double i) { return std::cos(0.9 * i); });
  const auto dx = grad(std::span(&y, 1), std::span(&x, 1),
                       {.cotangents = std::span(&g, 1)});
  expect_near(elements_of({y, dx[0]}), want, kTolerance);
}

TEST(ReductionFiguresTest, VarianceIsPyTorchs) {
  expect_figures([](const Tensor& x) { return var(x, {0, 2}); }, kVar);
  expect_figures([](const Tensor& x) { return var(x, {1}, false, 0.0); },
                 kVarUncorrected);
  expect_figures(
      [](const Tensor& x) {
        return std(x, {1, 2}, false, 2.0);
      },
      kStd);
}

TEST(ReductionFiguresTest, ProductsWithZerosArePyTorchs) {
  expect_figures([](const Tensor& x) { return prod(x, {1}); }, kProd);
}

TEST(ReductionFiguresTest, LogsumexpIsPyTorchs) {
  expect_figures(
      [](const Tensor& x) {
        return logsumexp(x, {0, 1});
      },
      kLogsumexp);
}

TEST(ReductionFiguresTest, NormsArePyTorchs) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  expect_figures([](const Tensor& x) { return norm(x, 1, {0}); }, kNorm1);
  expect_figures([](const Tensor& x) { return norm(x, 2, {0, 2}); }, kNorm2);
  expect_figures([](const Tensor& x) { return norm(x, kInfinity, {1}); },
                 kNormInf);
  expect_figures([](const Tensor& x) { return norm(x, 3, {1, 2}); }, kNorm3);
}

TEST(ReductionFiguresTest, SumsOnTheWayArePyTorchs) {
  expect_figures([](const Tensor& x) { return cumsum(x, 1); }, kCumsum);
}

TEST(ReductionFiguresTest, OrderIsPyTorchs) {
  expect_figures([](const Tensor& x) { return sort(x, 1, true).values; },
                 kSort);
  expect_figures([](const Tensor& x) { return topk(x, 2, 2, false).values; },
                 kTopk);
  expect_figures([](const Tensor& x) { return max(x, 0).values; }, kMax);
}

}  // namespace
}  // namespace neap
