// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Gpt and Lstm give PyTorch's results, losses and gradients for the same
// weights.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/models/figures_for_test.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/lstm.hpp"
#include "neap/ops/mean.hpp"
#include "neap/ops/square.hpp"

namespace neap::models {
namespace {

using testing::expect_figure;
using testing::expect_gradients;
using testing::expect_near;
using testing::fill;
using testing::kTolerance;
using testing::Projection;
using testing::wave;

#include "neap/models/model_figures.inc"

TEST(ModelFiguresTest, GptIsPyTorchs) {
  Gpt model({.vocab = 11,
             .block = 5,
             .layers = 2,
             .heads = 2,
             .dim = 8,
             .dtype = f64});
  fill(model);
  const Tensor tokens = wave(
      {2, 5}, [](double i) { return std::fmod(3 * i + i * i, 11); }, i64);
  const Tensor targets = wave(
      {2, 5}, [](double i) { return std::fmod(5 * i + 2, 11); }, i64);
  expect_near(model(tokens), kGptResult, kTolerance);
  const Tensor loss = model.loss(tokens, targets);
  expect_figure(loss.item(), kGptLoss, "loss");
  backward(loss);
  expect_gradients(model, kGptGradients);
}

TEST(ModelFiguresTest, LstmIsPyTorchs) {
  Lstm model(
      {.features = 3, .hidden = 4, .layers = 2, .outputs = 2, .dtype = f64});
  fill(model);
  const Tensor x = wave({2, 5, 3}, [](double i) { return std::sin(0.8 * i); });
  const Tensor y = model(x);
  expect_near(y, kLstmResult, kTolerance);
  const Tensor loss = mean(square(y));
  expect_figure(loss.item(), kLstmLoss, "loss");
  backward(loss);
  expect_gradients(model, kLstmGradients);
}

}  // namespace
}  // namespace neap::models
