// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Recurrent layers and language models give PyTorch's results, losses and
// gradients for the same weights.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/models/recurrent_lm.hpp"
#include "neap/ops/assign.hpp"
#include "neap/ops/concat.hpp"
#include "neap/ops/mean.hpp"
#include "neap/ops/reshape.hpp"
#include "neap/ops/square.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

// The loss, and of the result and each parameter's gradient the sum of element
// i times cos(0.3 i).
struct Projection {
  const char* name;
  double value;
};

#include "neap/models/recurrent_figures.inc"

template <class ValueOf>
Tensor wave(const Shape& shape, const ValueOf& value_of, DType dtype = f64) {
  std::vector<double> values(static_cast<std::size_t>(shape.element_count()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = value_of(static_cast<double>(i));
  }
  return from_values(values, shape, dtype);
}

double projection(const Tensor& x) {
  double sum = 0;
  double i = 0;
  for (const double value : x.to_vector()) {
    sum += value * std::cos(0.3 * i);
    i += 1;
  }
  return sum;
}

void fill(const nn::Module& model) {
  const NoGrad guard;
  double p = 0;
  for (const nn::Parameter& parameter : model.parameters()) {
    copy_(parameter.tensor, wave(parameter.tensor.shape(), [&](double i) {
            return 0.3 * std::sin(1.7 * i + 0.9 * p);
          }));
    p += 1;
  }
}

void expect(const nn::Module& model, const Tensor& result, const Tensor& loss,
            std::span<const Projection> wanted) {
  constexpr double kTolerance = 1e-12;
  EXPECT_NEAR(projection(result), wanted[0].value, kTolerance);
  EXPECT_NEAR(loss.item(), wanted[1].value, kTolerance);
  backward(loss);
  const nn::ParameterList parameters = model.parameters();
  ASSERT_EQ(parameters.size() + 2, wanted.size());
  for (std::size_t p = 0; p < parameters.size(); ++p) {
    const Projection& want = wanted[p + 2];
    EXPECT_EQ(std::string_view(parameters[p].name), want.name);
    EXPECT_NEAR(projection(parameters[p].tensor.grad()), want.value, kTolerance)
        << want.name;
  }
}

Tensor x() {
  return wave({2, 5, 3}, [](double i) { return std::sin(0.8 * i); });
}

Tensor state(double phase) {
  return wave({4, 2, 4},
              [phase](double i) { return std::sin(0.5 * i + phase); });
}

Tensor joined(std::initializer_list<Tensor> parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) {
    flat.push_back(reshape(part, {-1}));
  }
  return concat(flat);
}

constexpr nn::RecurrentOptions kOptions{
    .num_layers = 2, .batch_first = true, .bidirectional = true};

TEST(RecurrentFiguresTest, RnnIsPyTorchs) {
  for (const auto nonlinearity : {Nonlinearity::kTanh, Nonlinearity::kRelu}) {
    nn::RNN net(3, 4, kOptions, nonlinearity, f64);
    fill(net);
    const RecurrentResult r = net.run(x(), state(1));
    const Tensor result = joined({r.output, r.h});
    expect(net, result, mean(square(result)),
           nonlinearity == Nonlinearity::kTanh ? std::span(kTanh)
                                               : std::span(kRelu));
  }
}

TEST(RecurrentFiguresTest, LstmIsPyTorchs) {
  nn::LSTM net(3, 4, kOptions, f64);
  fill(net);
  const LstmResult r = net.run(x(), {state(1), state(2)});
  const Tensor result = joined({r.output, r.state.h, r.state.c});
  expect(net, result, mean(square(result)), kLstm);
}

TEST(RecurrentFiguresTest, GruIsPyTorchs) {
  nn::GRU net(3, 4, kOptions, f64);
  fill(net);
  const RecurrentResult r = net.run(x(), state(1));
  const Tensor result = joined({r.output, r.h});
  expect(net, result, mean(square(result)), kGru);
}

template <class Lm>
void expect_lm(std::span<const Projection> wanted) {
  Lm model({.vocab = 11,
            .dim = 6,
            .hidden = 6,
            .layers = 2,
            .tie = true,
            .dtype = f64});
  fill(model);
  const Tensor tokens = wave(
      {2, 5}, [](double i) { return std::fmod(3 * i + i * i, 11); }, i64);
  const Tensor targets = wave(
      {2, 5}, [](double i) { return std::fmod(5 * i + 2, 11); }, i64);
  expect(model, model(tokens), model.loss(tokens, targets), wanted);
}

TEST(RecurrentFiguresTest, LstmLmIsPyTorchs) {
  expect_lm<LstmLm>(kLstmLm);
}

TEST(RecurrentFiguresTest, GruLmIsPyTorchs) {
  expect_lm<GruLm>(kGruLm);
}

}  // namespace
}  // namespace neap::models
