// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Derivatives of calls in bf16 beside those in f32: of rounded factors they are
// near, and they are not the same.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/kernels/engine/kernel.hpp"
#include "neap/ops/ops.hpp"
#include "neap/ops/precision.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/generator.hpp"

namespace neap {
namespace {

using Leaves = std::vector<Tensor>;
using Loss = std::function<Tensor(const Leaves&)>;

class PrecisionGradientsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    kernels::isa();
    if (!kernels::has_bf16_dot()) {
      GTEST_SKIP() << "no dot products of bf16 here";
    }
  }
  Generator generator_{7};
  UseGenerator use_{generator_};
};

// The gradient of each leaf for a call in `precision`; the derivative is taken
// outside of it.
std::vector<std::vector<double>> gradients_of(const Leaves& leaves,
                                              const Loss& loss,
                                              Precision precision) {
  Generator generator(3);
  const UseGenerator draws(generator);
  Tensor y;
  {
    const UsePrecision guard(precision);
    y = loss(leaves);
  }
  backward(y);
  std::vector<std::vector<double>> all;
  for (const Tensor& leaf : leaves) {
    const auto values = leaf.grad().to_vector();
    all.emplace_back(values.begin(), values.end());
  }
  zero_grad(leaves);
  return all;
}

double norm_of(const std::vector<double>& x) {
  double sum = 0.0;
  for (const double value : x) {
    sum += value * value;
  }
  return std::sqrt(sum);
}

void expect_near_f32(const Leaves& leaves, const Loss& loss) {
  const auto got = gradients_of(leaves, loss, Precision::kBf16);
  const auto want = gradients_of(leaves, loss, Precision::kF32);
  EXPECT_NE(got, want);
  for (std::size_t i = 0; i < want.size(); ++i) {
    std::vector<double> difference = got[i];
    for (std::size_t k = 0; k < difference.size(); ++k) {
      difference[k] -= want[i][k];
    }
    EXPECT_LT(norm_of(difference), 0x1p-7 * norm_of(want[i])) << "leaf " << i;
  }
}

Tensor leaf(const Shape& shape) {
  return requires_grad_(randn(shape) * 0.25);
}

// x, the weights and the states of a network.
Leaves leaves_of(std::int64_t gates, int states) {
  constexpr std::int64_t kHidden = 21;
  Leaves leaves{leaf({5, 4, 11}), leaf({gates * kHidden, 11}),
                leaf({gates * kHidden, kHidden}), leaf({gates * kHidden}),
                leaf({gates * kHidden})};
  for (int i = 0; i < states; ++i) {
    leaves.push_back(leaf({4, kHidden}));
  }
  return leaves;
}

RecurrentWeights weights_of(const Leaves& x) {
  return {.w_ih = x[1], .w_hh = x[2], .b_ih = x[3], .b_hh = x[4]};
}

Tensor loss_of(const Tensor& y) {
  return mean(square(y + 1.0));
}

TEST_F(PrecisionGradientsTest, OfLstmAreNearThoseOfF32) {
  for (const bool is_reverse : {false, true}) {
    expect_near_f32(leaves_of(4, 2), [is_reverse](const Leaves& x) {
      const LstmResult y = lstm(x[0], weights_of(x), {x[5], x[6]}, is_reverse);
      return loss_of(y.output) + loss_of(y.state.c);
    });
  }
}

TEST_F(PrecisionGradientsTest, OfGruAreNearThoseOfF32) {
  for (const bool is_reverse : {false, true}) {
    expect_near_f32(leaves_of(3, 1), [is_reverse](const Leaves& x) {
      return loss_of(gru(x[0], weights_of(x), x[5], is_reverse).output);
    });
  }
}

TEST_F(PrecisionGradientsTest, OfRnnAreNearThoseOfF32) {
  expect_near_f32(leaves_of(1, 1), [](const Leaves& x) {
    return loss_of(rnn(x[0], weights_of(x), x[5]).output);
  });
}

TEST_F(PrecisionGradientsTest, OfAttentionAreNearThoseOfF32) {
  for (const bool is_causal : {false, true}) {
    for (const double dropout : {0.0, 0.3}) {
      expect_near_f32(
          {leaf({2, 3, 19, 13}), leaf({2, 3, 23, 13}), leaf({2, 3, 23, 9})},
          [=](const Leaves& x) {
            return loss_of(scaled_dot_product_attention(
                x[0], x[1], x[2],
                {.is_causal = is_causal, .dropout = dropout}));
          });
    }
  }
}

TEST_F(PrecisionGradientsTest, OfAMaskAreNearThoseOfF32) {
  expect_near_f32(
      {leaf({2, 19, 13}), leaf({2, 23, 13}), leaf({2, 23, 9}), leaf({19, 23})},
      [](const Leaves& x) {
        return loss_of(
            scaled_dot_product_attention(x[0], x[1], x[2], {.mask = x[3]}));
      });
}

}  // namespace
}  // namespace neap
