// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/precision.hpp"

#include <gtest/gtest.h>

#include <array>
#include <thread>

#include "neap/autograd/backward.hpp"
#include "neap/base/error.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/kernels/conv/conv.hpp"
#include "neap/kernels/sequence/attention.hpp"
#include "neap/kernels/sequence/recurrent.hpp"
#include "neap/ops/conv/conv2d_relu.hpp"
#include "neap/ops/conv/conv2d_weight.hpp"
#include "neap/ops/linalg/linear_cross_entropy_grad.hpp"
#include "neap/ops/linalg/matmul.hpp"
#include "neap/ops/ops.hpp"
#include "neap/ops/sequence/attention_grad.hpp"
#include "neap/ops/sequence/lstm.hpp"
#include "neap/ops/sequence/recurrent_grads.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

TEST(PrecisionTest, IsF32UntilTheUserSaysOtherwise) {
  EXPECT_EQ(current_precision(), Precision::kF32);
}

TEST(PrecisionTest, NestsAndComesBackPerThread) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  {
    const UsePrecision outer(Precision::kBf16);
    EXPECT_EQ(current_precision(), Precision::kBf16);
    {
      const UsePrecision inner(Precision::kF32);
      EXPECT_EQ(current_precision(), Precision::kF32);
    }
    EXPECT_EQ(current_precision(), Precision::kBf16);
    Precision elsewhere = Precision::kBf16;
    std::thread([&] { elsewhere = current_precision(); }).join();
    EXPECT_EQ(elsewhere, Precision::kF32);
  }
  EXPECT_EQ(current_precision(), Precision::kF32);
}

TEST(PrecisionTest, IsRefusedWhereTheProcessorCannot) {
  if (kernels::has_bf16_dot()) {
    GTEST_SKIP() << "this processor can";
  }
  EXPECT_THROW(UsePrecision guard(Precision::kBf16), DeviceError);
  EXPECT_EQ(current_precision(), Precision::kF32);
}

// 1 + 2^-8 lies half-way between two bf16 and becomes 1.
constexpr double kTie = 1 + 0x1p-8;

Tensor tie(const Shape& shape, DType dtype = f32) {
  return full(shape, kTie, dtype);
}

TEST(PrecisionTest, ProductsOfF32AreComputedInItAndOthersAreNot) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const UsePrecision guard(Precision::kBf16);
  const Tensor x = tie({1, 1});
  const Tensor one = ones({1, 1});
  EXPECT_EQ(linear(x, one).item(), 1.0);
  EXPECT_EQ(linear(x, one, tie({1})).item(), 1.0 + kTie);  // the bias as it is
  EXPECT_EQ(matmul(x, one).item(), 1.0);
  EXPECT_EQ(matmul(one, x).item(), 1.0);
  EXPECT_EQ(ops::matmul_add(x, x, one).item(), 1.0 + kTie);
  EXPECT_EQ(matmul(tie({1, 1}, f64), ones({1, 1}, f64)).item(), kTie);
  EXPECT_EQ(mul(x, one).item(), kTie);
  // gelu(x) is x for a large one, and the product's factor.
  EXPECT_EQ(gelu_linear(full({1, 1}, 64 * kTie), one).item(), 64.0);
}

TEST(PrecisionTest, ConvolutionsAreComputedInItAndKeepTheirBias) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const Tensor x = tie({1, 2, 1, 1});
  const Tensor one = ones({1, 2, 1, 1});
  const Tensor back = ones({2, 1, 1, 1});
  EXPECT_EQ(conv2d(x, one).item(), 2 * kTie);
  const UsePrecision guard(Precision::kBf16);
  EXPECT_EQ(conv2d(x, one).item(), 2.0);
  EXPECT_EQ(conv2d(one, x).item(), 2.0);
  EXPECT_EQ(conv2d(x, one, tie({1})).item(), 2.0 + kTie);
  EXPECT_EQ(conv_transpose2d(x, back).item(), 2.0);
  EXPECT_EQ(conv1d(tie({1, 2, 1}), ones({1, 2, 1})).item(), 2.0);
  EXPECT_EQ(conv_transpose1d(tie({1, 2, 1}), ones({2, 1, 1})).item(), 2.0);
  EXPECT_EQ(conv2d(tie({1, 2, 1, 1}, f64), ones({1, 2, 1, 1}, f64)).item(),
            2 * kTie);
  // Without pairs of channels, as without the guard.
  EXPECT_EQ(conv2d(tie({1, 1, 1, 1}), ones({1, 1, 1, 1})).item(), kTie);
}

double last_of_rnn(const Tensor& x, const RecurrentWeights& weights,
                   const Tensor& h0 = {}) {
  return rnn(x, weights, h0, {.nonlinearity = Nonlinearity::kRelu}).h.item();
}

TEST(PrecisionTest, IsKnownOfEveryConvolution) {
  const kernels::ConvAttrs plain;
  kernels::ConvAttrs rounded;
  rounded.precision = Precision::kBf16;
  for (const graph::Op* op :
       {&ops::kConv2d, &ops::kConvTranspose2d, &ops::kConv2dWeight,
        &ops::kConv2dWeightAdd, &ops::kConv2dRelu, &ops::kConv2dReluBits}) {
    EXPECT_EQ(ops::precision_of(*op, &plain), Precision::kF32) << op->name;
    EXPECT_EQ(ops::precision_of(*op, &rounded), Precision::kBf16) << op->name;
  }
}

TEST(PrecisionTest, RecurrentNetworksTakeItForTheProductsWithInputAndState) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const RecurrentWeights weights{.w_ih = ones({1, 1}), .w_hh = ones({1, 1})};
  const Tensor x = tie({2, 1, 1});
  const Tensor none = zeros({1, 1, 1});
  EXPECT_EQ(last_of_rnn(x, weights), 2 * kTie);
  EXPECT_EQ(last_of_rnn(none, weights, tie({1, 1})), kTie);
  const UsePrecision guard(Precision::kBf16);
  EXPECT_EQ(last_of_rnn(x, weights), 2.0);
  EXPECT_EQ(last_of_rnn(none, weights, tie({1, 1})), 1.0);
  const auto wide = [](const Shape& shape) { return ones(shape, f64); };
  EXPECT_EQ(last_of_rnn(wide({1, 1, 1}), {wide({1, 1}), wide({1, 1})},
                        tie({1, 1}, f64)),
            1 + kTie);
}

TEST(PrecisionTest, AttentionTakesItForItsProducts) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const Tensor one = ones({1, 1});
  const auto of = [&](const Tensor& v) {
    return scaled_dot_product_attention(one, one, v).item();
  };
  EXPECT_EQ(of(tie({1, 1})), kTie);
  const UsePrecision guard(Precision::kBf16);
  EXPECT_EQ(of(tie({1, 1})), 1.0);
  EXPECT_EQ(scaled_dot_product_attention(ones({1, 1}, f64), ones({1, 1}, f64),
                                         tie({1, 1}, f64))
                .item(),
            kTie);
}

// The gradient of a call in one precision, taken while another is current.
template <class Call>
double slope_of(const Tensor& x, Precision of_call, const Call& call) {
  Tensor y;
  {
    const UsePrecision guard(of_call);
    y = call();
  }
  const UsePrecision other(of_call == Precision::kF32 ? Precision::kBf16
                                                      : Precision::kF32);
  backward(y);
  const double value = x.grad().item();
  zero_grad(std::array{x});
  return value;
}

TEST(PrecisionTest, GradientsOfStatesHaveThatOfTheCall) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const RecurrentWeights weights{.w_ih = ones({1, 1}), .w_hh = tie({1, 1})};
  Tensor h0 = requires_grad_(ones({1, 1}));
  const auto call = [&] {
    return sum(rnn(zeros({1, 1, 1}), weights, h0,
                   {.nonlinearity = Nonlinearity::kRelu})
                   .h);
  };
  EXPECT_EQ(slope_of(h0, Precision::kF32, call), kTie);
  EXPECT_EQ(slope_of(h0, Precision::kBf16, call), 1.0);
}

TEST(PrecisionTest, GradientsOfAttentionHaveThatOfTheCall) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  Tensor v = requires_grad_(ones({1, 1}));
  const Tensor one = ones({1, 1});
  const auto call = [&] {
    return sum(scaled_dot_product_attention(one, one, v) * kTie);
  };
  EXPECT_EQ(slope_of(v, Precision::kF32, call), kTie);
  EXPECT_EQ(slope_of(v, Precision::kBf16, call), 1.0);
}

TEST(PrecisionTest, IsKnownOfCallsOfGradients) {
  const kernels::RecurrentGradAttrs recurrent{.precision = Precision::kBf16};
  EXPECT_EQ(ops::precision_of(ops::kLstmGrad, &recurrent), Precision::kBf16);
  kernels::AttentionAttrs attention;
  attention.precision = Precision::kBf16;
  EXPECT_EQ(ops::precision_of(ops::kAttentionGrad, &attention),
            Precision::kBf16);
  const kernels::LinearCrossEntropyAttrs head{.precision = Precision::kBf16};
  EXPECT_EQ(ops::precision_of(ops::kLinearCrossEntropyGrad, &head),
            Precision::kBf16);
}

// The sum of the derivatives of `call` by w: each is a tie, or what is left of
// one.
template <class Call>
void expect_slopes(const Call& call, Tensor w, double count) {
  const auto slope = [&] {
    const double value = sum(w.grad()).item() / count;
    zero_grad(std::array{w});
    return value;
  };
  Tensor y;
  {
    const UsePrecision guard(Precision::kBf16);
    y = sum(call());
  }
  backward(y);
  EXPECT_EQ(slope(), 1.0);
  y = sum(call());
  const UsePrecision guard(Precision::kBf16);
  backward(y);
  EXPECT_EQ(slope(), kTie);
}

TEST(PrecisionTest, DerivativesHaveThatOfTheCall) {
  if (!kernels::has_bf16_dot()) {
    GTEST_SKIP() << "no dot products of bf16 here";
  }
  const Tensor w = requires_grad_(ones({1, 1}));
  expect_slopes([&] { return linear(tie({1, 1}), w); }, w, 1);
  // Two channels, two samples: every sum has pairs.
  const Tensor kernel = requires_grad_(ones({2, 2, 1, 1}));
  const Tensor x = tie({2, 2, 1, 1});
  expect_slopes([&] { return conv2d(x, kernel); }, kernel, 8);
  expect_slopes([&] { return conv2d(kernel, x); }, kernel, 8);
  expect_slopes([&] { return conv_transpose2d(x, kernel); }, kernel, 8);
  expect_slopes([&] { return conv_transpose2d(kernel, x); }, kernel, 8);
}

}  // namespace
}  // namespace neap
