// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Gpt and Lstm give PyTorch's results, losses and gradients for the same
// weights.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/recorder.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/models/gpt.hpp"
#include "neap/models/lstm.hpp"
#include "neap/nn/init.hpp"
#include "neap/ops/assign.hpp"
#include "neap/ops/mean.hpp"
#include "neap/ops/square.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

struct Projection {
  const char* name;
  double value;  // the sum of its gradient times cos(0.3 i)
};

#include "neap/models/model_figures.inc"

constexpr double kTolerance = 1e-11;

template <class ValueOf>
Tensor wave(const Shape& shape, const ValueOf& value_of, DType dtype = f64) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = value_of(static_cast<double>(i));
  }
  return from_values(values, shape, dtype);
}

void fill(const nn::Module& model) {
  const NoGrad guard;
  double p = 0;
  for (const nn::Parameter& parameter : model.parameters()) {
    const std::string_view name = parameter.name;
    const bool is_norm = name.find("ln_") != name.npos && name.ends_with("ht");
    const Tensor values = wave(parameter.tensor.shape(), [&](double i) {
      return (is_norm ? 1.0 : 0.0) + 0.3 * std::sin(1.7 * i + 0.9 * p);
    });
    copy_(parameter.tensor, values);
    p += 1;
  }
}

void expect_near(const Tensor& got, std::span<const double> want) {
  const memory::Vector<double> values = got.to_vector();
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    EXPECT_NEAR(values[i], want[i], kTolerance) << i;
  }
}

void expect_gradients(const nn::Module& model,
                      std::span<const Projection> wanted) {
  const nn::ParameterList parameters = model.parameters();
  ASSERT_EQ(parameters.size(), wanted.size());
  for (std::size_t p = 0; p < wanted.size(); ++p) {
    EXPECT_EQ(std::string_view(parameters[p].name), wanted[p].name);
    const memory::Vector<double> dx = parameters[p].tensor.grad().to_vector();
    double projection = 0;
    for (std::size_t i = 0; i < dx.size(); ++i) {
      projection += dx[i] * std::cos(0.3 * static_cast<double>(i));
    }
    EXPECT_NEAR(projection, wanted[p].value, kTolerance) << wanted[p].name;
  }
}

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
  expect_near(model(tokens), kGptResult);
  const Tensor loss = model.loss(tokens, targets);
  EXPECT_NEAR(loss.item(), kGptLoss, kTolerance);
  backward(loss);
  expect_gradients(model, kGptGradients);
}

TEST(ModelFiguresTest, LstmIsPyTorchs) {
  Lstm model(
      {.features = 3, .hidden = 4, .layers = 2, .outputs = 2, .dtype = f64});
  fill(model);
  const Tensor x = wave({2, 5, 3}, [](double i) { return std::sin(0.8 * i); });
  const Tensor y = model(x);
  expect_near(y, kLstmResult);
  const Tensor loss = mean(square(y));
  EXPECT_NEAR(loss.item(), kLstmLoss, kTolerance);
  backward(loss);
  expect_gradients(model, kLstmGradients);
}

}  // namespace
}  // namespace neap::models
