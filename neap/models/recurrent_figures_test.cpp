// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Recurrent layers and language models give PyTorch's results, losses and
// gradients for the same weights.
#include <gtest/gtest.h>

#include <cmath>

#include "neap/models/figures_for_test.hpp"
#include "neap/models/recurrent_lm.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {
namespace {

using testing::Projection;
using testing::wave;

// Golden values: of the result, the loss, then each parameter's gradient.
#include "neap/models/recurrent_figures.inc"

void expect(const nn::Module& model, const Tensor& result, const Tensor& loss,
            std::span<const Projection> wanted) {
  testing::expect_figure(testing::projection(result), wanted[0].value,
                         result.dtype(), "result");
  testing::expect_loss(loss, wanted[1].value);
  backward(loss);
  testing::expect_gradients(model, wanted.subspan(2));
}

class RecurrentFiguresTest : public testing::FiguresTest {
 protected:
  static Tensor x() {
    return wave(
        {2, 5, 3}, [](double i) { return std::sin(0.8 * i); }, dtype());
  }
  static Tensor state(double phase) {
    return wave(
        {4, 2, 4}, [phase](double i) { return std::sin(0.5 * i + phase); },
        dtype());
  }
};

Tensor joined(std::initializer_list<Tensor> parts) {
  std::vector<Tensor> flat;
  for (const Tensor& part : parts) {
    flat.push_back(reshape(part, {-1}));
  }
  return concat(flat);
}

constexpr nn::RecurrentOptions kOptions{
    .num_layers = 2, .batch_first = true, .bidirectional = true};

TEST_P(RecurrentFiguresTest, RnnIsPyTorchs) {
  for (const auto nonlinearity : {Nonlinearity::kTanh, Nonlinearity::kRelu}) {
    nn::RNN net(3, 4, kOptions, nonlinearity, dtype());
    testing::fill(net);
    const RecurrentResult r = net.run(x(), state(1));
    const Tensor result = joined({r.output, r.h});
    expect(net, result, mean(square(result)),
           nonlinearity == Nonlinearity::kTanh ? std::span(kTanh)
                                               : std::span(kRelu));
  }
}

TEST_P(RecurrentFiguresTest, LstmIsPyTorchs) {
  nn::LSTM net(3, 4, kOptions, dtype());
  testing::fill(net);
  const LstmResult r = net.run(x(), {state(1), state(2)});
  const Tensor result = joined({r.output, r.state.h, r.state.c});
  expect(net, result, mean(square(result)), kLstm);
}

TEST_P(RecurrentFiguresTest, GruIsPyTorchs) {
  nn::GRU net(3, 4, kOptions, dtype());
  testing::fill(net);
  const RecurrentResult r = net.run(x(), state(1));
  const Tensor result = joined({r.output, r.h});
  expect(net, result, mean(square(result)), kGru);
}

template <class Lm>
void expect_lm(std::span<const Projection> wanted, DType dtype) {
  Lm model({.vocab = 11,
            .dim = 6,
            .hidden = 6,
            .layers = 2,
            .tie = true,
            .dtype = dtype});
  testing::fill(model);
  const Tensor tokens = wave(
      {2, 5}, [](double i) { return std::fmod(3 * i + i * i, 11); }, i64);
  const Tensor targets = wave(
      {2, 5}, [](double i) { return std::fmod(5 * i + 2, 11); }, i64);
  expect(model, model(tokens), model.loss(tokens, targets), wanted);
}

TEST_P(RecurrentFiguresTest, LstmLmIsPyTorchs) {
  expect_lm<LstmLm>(kLstmLm, dtype());
}

TEST_P(RecurrentFiguresTest, GruLmIsPyTorchs) {
  expect_lm<GruLm>(kGruLm, dtype());
}

INSTANTIATE_TEST_SUITE_P(All, RecurrentFiguresTest, ::testing::Values(f64, f32),
                         testing::dtype_of_case);

}  // namespace
}  // namespace neap::models
