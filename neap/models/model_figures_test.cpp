// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Mlp, Gpt in two forms and Lstm give PyTorch's results, losses and gradients
// for the same weights.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "neap/models/figures_for_test.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/lstm.hpp"
#include "neap/models/mlp.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/reduction/sum.hpp"

namespace neap::models {
namespace {

using testing::expect_gradients;
using testing::expect_loss;
using testing::expect_near;
using testing::fill;
using testing::Projection;
using testing::tolerance_of;
using testing::wave;

#include "neap/models/model_figures.inc"

class ModelFiguresTest : public testing::FiguresTest {
 protected:
  static Tensor sines(const Shape& shape) {
    return wave(
        shape, [](double i) { return std::sin(0.8 * i); }, dtype());
  }
  static Tensor labels(const Shape& shape, double classes) {
    return wave(
        shape, [classes](double i) { return std::fmod(5 * i + 2, classes); },
        i64);
  }

  static void expect_figures(const nn::Module& model, const Tensor& result,
                             std::span<const double> wanted, const Tensor& loss,
                             double wanted_loss,
                             std::span<const Projection> gradients) {
    expect_near(result, wanted, tolerance_of(dtype()));
    expect_loss(loss, wanted_loss);
    backward(loss);
    expect_gradients(model, gradients);
  }

  static void expect_gpt(GptOptions options, std::span<const double> result,
                         double loss, std::span<const Projection> gradients) {
    options.vocab = 11;
    options.block = 5;
    options.layers = 2;
    options.heads = 2;
    options.dim = 8;
    options.dtype = dtype();
    Gpt model(options);
    fill(model);
    const Tensor tokens = wave(
        {2, 5}, [](double i) { return std::fmod(3 * i + i * i, 11); }, i64);
    expect_figures(model, model(tokens), result,
                   model.loss(tokens, labels({2, 5}, 11)), loss, gradients);
  }
};

TEST_P(ModelFiguresTest, MlpIsPyTorchs) {
  Mlp model(std::vector<std::int64_t>{6, 5, 4, 3}, {.dtype = dtype()});
  fill(model);
  const Tensor y = model(sines({4, 2, 3}));
  expect_figures(model, y, kMlpResult, cross_entropy(y, labels({4}, 3)),
                 kMlpLoss, kMlpGradients);
}

TEST_P(ModelFiguresTest, GptIsPyTorchs) {
  for (const GptKeep keep :
       {GptKeep::kEverything, GptKeep::kProducts, GptKeep::kNothing}) {
    expect_gpt({.keep = keep}, kGptResult, kGptLoss, kGptGradients);
  }
}

TEST_P(ModelFiguresTest, GptInTheFormOfLlamaIsPyTorchs) {
  expect_gpt({.bias = false,
              .tie = false,
              .positions = GptPositions::kRotary,
              .mlp = GptFeedForward::kSwiglu,
              .norm = GptNormalise::kRmsNorm},
             kLlamaResult, kLlamaLoss, kLlamaGradients);
}

TEST_P(ModelFiguresTest, LstmIsPyTorchs) {
  Lstm model({.features = 3,
              .hidden = 4,
              .layers = 2,
              .outputs = 2,
              .dtype = dtype()});
  fill(model);
  const Tensor y = model(sines({2, 5, 3}));
  expect_figures(model, y, kLstmResult, mean(square(y)), kLstmLoss,
                 kLstmGradients);
}

INSTANTIATE_TEST_SUITE_P(All, ModelFiguresTest, ::testing::Values(f64, f32),
                         testing::dtype_of_case);

}  // namespace
}  // namespace neap::models
