// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Losses and activations beside what PyTorch gives for the same numbers.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

constexpr std::size_t kCount = 12;

struct Figures {
  double sum;                         // of the result
  std::array<double, kCount> slopes;  // its derivative by x
};

#include "neap/ops/loss/loss_figures.inc"

template <class F>
Tensor matrix(F element) {
  std::vector<double> values;
  for (std::size_t i = 0; i < kCount; ++i) {
    values.push_back(element(static_cast<double>(i)));
  }
  return from_values(values, {3, 4}, f64);
}

Tensor targets() {
  return matrix([](double i) { return 0.5 + 0.45 * std::cos(0.9 * i); });
}

Tensor labels(double second = 0) {
  return from_values({2, second, 3}, {3}, i64);
}

void expect(const Figures& figures, Tensor (*f)(const Tensor& x)) {
  const Tensor x = requires_grad_(
      matrix([](double i) { return 1.5 * std::sin(1.3 * i + 0.4); }));
  const Tensor result = sum(f(x));
  const auto near = [](double got, double wanted) {
    EXPECT_NEAR(got, wanted, 1e-13 + 1e-12 * std::abs(wanted));
  };
  near(result.to_vector()[0], figures.sum);
  backward(result);
  const auto slopes = x.grad().to_vector();
  for (std::size_t i = 0; i < kCount; ++i) {
    SCOPED_TRACE(i);
    near(slopes[i], figures.slopes[i]);
  }
}

TEST(LossFiguresTest, OfDifferences) {
  expect(kMse, [](const Tensor& x) { return mse_loss(x, targets()); });
  expect(kMseSum, [](const Tensor& x) {
    return mse_loss(x, targets(), Reduction::kSum);
  });
  expect(kL1, [](const Tensor& x) { return l1_loss(x, targets()); });
  expect(kHuber, [](const Tensor& x) {
    return huber_loss(x, targets(), Reduction::kMean, 0.6);
  });
  expect(kSmoothL1, [](const Tensor& x) {
    return smooth_l1_loss(x, targets(), Reduction::kMean, 0.6);
  });
}

TEST(LossFiguresTest, OfYesAndNo) {
  expect(kBce, [](const Tensor& x) {
    return binary_cross_entropy(sigmoid(x), targets());
  });
  expect(kBceEdges, [](const Tensor& x) {
    return binary_cross_entropy(add(cast(gt(x, 0), f64), mul(x, 0)), targets());
  });
  expect(kBceLogits, [](const Tensor& x) {
    return binary_cross_entropy_with_logits(x, targets());
  });
  expect(kBceLogitsFar, [](const Tensor& x) {
    return binary_cross_entropy_with_logits(mul(x, 60), targets());
  });
  expect(kBceWeighted, [](const Tensor& x) {
    const Tensor weights = from_values({1, 2, 0.5, 3}, {4}, f64);
    return binary_cross_entropy_with_logits(x, targets(), Reduction::kMean,
                                            weights);
  });
}

TEST(LossFiguresTest, OfDistributions) {
  expect(kKlDiv,
         [](const Tensor& x) { return kl_div(log_softmax(x), targets()); });
  expect(kKlDivLog, [](const Tensor& x) {
    return kl_div(log_softmax(x), log_softmax(targets()), Reduction::kSum,
                  true);
  });
  expect(kNll,
         [](const Tensor& x) { return nll_loss(log_softmax(x), labels()); });
  expect(kNllSum, [](const Tensor& x) {
    return nll_loss(log_softmax(x), labels(), Reduction::kSum);
  });
  expect(kCrossEntropy,
         [](const Tensor& x) { return cross_entropy(x, labels()); });
  expect(kCrossEntropySmooth, [](const Tensor& x) {
    return cross_entropy(x, labels(), {.label_smoothing = 0.15});
  });
  expect(kCrossEntropySome, [](const Tensor& x) {
    return cross_entropy(x, labels(-100), {.label_smoothing = 0.15});
  });
  expect(kCrossEntropySum, [](const Tensor& x) {
    return cross_entropy(x, labels(-100), {.reduction = Reduction::kSum});
  });
  expect(kSoftmax, [](const Tensor& x) { return mul(softmax(x), targets()); });
}

Tensor class_weights(std::int64_t count = 4) {
  return narrow(from_values({1, 2, 0.5, 3}, {4}, f64), 0, 0, count);
}

TEST(LossFiguresTest, OfWeightsAndProbabilities) {
  expect(kCrossEntropyWeights, [](const Tensor& x) {
    return cross_entropy(x, labels(), {.weight = class_weights()});
  });
  expect(kCrossEntropyWeightsSome, [](const Tensor& x) {
    return cross_entropy(x, labels(-100),
                         {.label_smoothing = 0.15, .weight = class_weights()});
  });
  expect(kCrossEntropySoft,
         [](const Tensor& x) { return cross_entropy(x, targets()); });
  expect(kCrossEntropySoftWeights, [](const Tensor& x) {
    return cross_entropy(x, targets(),
                         {.label_smoothing = 0.15, .weight = class_weights()});
  });
  expect(kCrossEntropySoftImages, [](const Tensor& x) {
    return cross_entropy(reshape(x, {1, 3, 4}), reshape(targets(), {1, 3, 4}),
                         {.weight = class_weights(3)});
  });
}

TEST(LossFiguresTest, OfActivations) {
  expect(kGelu, [](const Tensor& x) { return gelu(x); });
  expect(kGeluTanh, [](const Tensor& x) { return gelu(x, GeluForm::kTanh); });
  expect(kSilu, [](const Tensor& x) { return silu(x); });
  expect(kMish, [](const Tensor& x) { return mish(x); });
  expect(kElu, [](const Tensor& x) { return elu(x, 0.7); });
  expect(kLeakyRelu, [](const Tensor& x) { return leaky_relu(x, 0.2); });
  expect(kSoftplus, [](const Tensor& x) { return softplus(x, 2, 2); });
  expect(kLogSigmoid, [](const Tensor& x) { return log_sigmoid(x); });
  expect(kSoftsign, [](const Tensor& x) { return softsign(x); });
}

}  // namespace
}  // namespace neap
