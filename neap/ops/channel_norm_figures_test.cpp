// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// batch_norm, group_norm and instance_norm give PyTorch's figures.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/batch_norm.hpp"
#include "neap/ops/group_norm.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

#include "neap/ops/channel_norm_figures.inc"

template <class F>
Tensor array(const Shape& shape, const F& f) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = f(static_cast<double>(i));
  }
  return from_values(values, shape, f64);
}

Tensor batch(double k) {
  return array({2, 4, 2, 3},
               [k](double i) { return 2 * std::sin(1.3 * i + 0.4 + k); });
}

void expect_near(const Tensor& got, std::span<const double> want) {
  const memory::Vector<double> values = got.to_vector();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(values[i], want[i], 2e-13) << i;
  }
}

class ChannelNormFiguresTest : public ::testing::Test {
 protected:
  void expect_grads(const Tensor& y, const Tensor& x,
                    std::span<const double> dx, std::span<const double> dw,
                    std::span<const double> db) {
    const Tensor g =
        array({2, 4, 2, 3}, [](double i) { return std::cos(0.9 * i); });
    const std::array inputs{x, w_, b_};
    const auto d =
        grad(std::span(&y, 1), inputs, {.cotangents = std::span(&g, 1)});
    expect_near(d[0], dx);
    expect_near(d[1], dw);
    expect_near(d[2], db);
  }

  Tensor w_ = requires_grad_(array({4}, [](double i) { return 1 + 0.1 * i; }));
  Tensor b_ =
      requires_grad_(array({4}, [](double i) { return 0.5 - 0.2 * i; }));
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
    expect_near(mean, means[k]);
    expect_near(var, vars[k]);
  }
  expect_near(y, kY);
  expect_grads(y, x, kDx, kDw, kDb);
  expect_near(batch_norm(batch(0), mean, var, w_, b_), kEvalY);
}

TEST_F(ChannelNormFiguresTest, GroupNormIsPyTorchs) {
  const Tensor x = requires_grad_(batch(0));
  const Tensor y = group_norm(x, 2, w_, b_);
  expect_near(y, kGroupY);
  expect_grads(y, x, kGroupDx, kGroupDw, kGroupDb);
  expect_near(instance_norm(x, w_, b_), kInstanceY);
}

}  // namespace
}  // namespace neap
