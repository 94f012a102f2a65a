// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// RNN, LSTM, GRU and their cells.
#include "neap/nn/recurrent.hpp"

#include <gtest/gtest.h>

#include "neap/graph/recorder.hpp"
#include "neap/nn/recurrent_cells.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/shape/flip.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/execution.hpp"
#include "neap/tensor/generator.hpp"

namespace neap::nn {
namespace {

class RecurrentTest : public ::testing::Test {
 protected:
  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};

  static std::vector<std::string> names_of(const Module& module) {
    std::vector<std::string> names;
    for (const Parameter& parameter : module.parameters()) {
      names.emplace_back(parameter.name);
    }
    return names;
  }

  static void expect_equal(const Tensor& a, const Tensor& b) {
    EXPECT_EQ(a.shape(), b.shape());
    EXPECT_EQ(a.to_vector(), b.to_vector());
  }
};

TEST_F(RecurrentTest, HasPyTorchsNamesAndShapes) {
  const GRU net(3, 5, {.num_layers = 2, .bidirectional = true});
  EXPECT_EQ(
      names_of(net),
      (std::vector<std::string>{
          "weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0",
          "weight_ih_l0_reverse", "weight_hh_l0_reverse", "bias_ih_l0_reverse",
          "bias_hh_l0_reverse", "weight_ih_l1", "weight_hh_l1", "bias_ih_l1",
          "bias_hh_l1", "weight_ih_l1_reverse", "weight_hh_l1_reverse",
          "bias_ih_l1_reverse", "bias_hh_l1_reverse"}));
  EXPECT_EQ(net.parameter("weight_ih_l0").shape(), Shape({15, 3}));
  EXPECT_EQ(net.parameter("weight_ih_l1").shape(), Shape({15, 10}));
  EXPECT_EQ(net.parameter("weight_hh_l1_reverse").shape(), Shape({15, 5}));
  EXPECT_EQ(names_of(LSTM(3, 5, {.bias = false})),
            (std::vector<std::string>{"weight_ih_l0", "weight_hh_l0"}));
  EXPECT_EQ(names_of(LSTMCell(3, 5)),
            (std::vector<std::string>{"weight_ih", "weight_hh", "bias_ih",
                                      "bias_hh"}));
}

TEST_F(RecurrentTest, BeginsWithinABound) {
  const LSTM net(3, 64);
  double largest = 0;
  for (const Parameter& parameter : net.parameters()) {
    for (const double value : parameter.tensor.to_vector()) {
      largest = std::max(largest, std::abs(value));
    }
  }
  EXPECT_LE(largest, 0.125);
  EXPECT_GT(largest, 0.124);
}

TEST_F(RecurrentTest, ReturnsTheOutputAndTheStates) {
  LSTM net(3, 5, {.num_layers = 2, .bidirectional = true});
  const LstmResult r = net.run(rand({7, 4, 3}));
  EXPECT_EQ(r.output.shape(), Shape({7, 4, 10}));
  EXPECT_EQ(r.state.h.shape(), Shape({4, 4, 5}));
  EXPECT_EQ(r.state.c.shape(), Shape({4, 4, 5}));
  const Tensor top = narrow(r.output, 2, 0, 5);
  expect_equal(select(top, 0, 6), select(r.state.h, 0, 2));
  expect_equal(select(narrow(r.output, 2, 5, 5), 0, 0),
               select(r.state.h, 0, 3));
}

TEST_F(RecurrentTest, TakesTheBatchFirstIfAsked) {
  const RecurrentOptions options{.num_layers = 2, .bidirectional = true};
  RecurrentOptions turned = options;
  turned.batch_first = true;
  Generator again(3);
  const UseGenerator use(again);
  GRU net(3, 5, options);
  again = Generator(3);
  GRU other(3, 5, turned);
  const Tensor x = rand({7, 4, 3});
  expect_equal(net(x), transpose(other(transpose(x, 0, 1)), 0, 1));
}

TEST_F(RecurrentTest, GoesOnFromAState) {
  LSTM net(3, 5, {.num_layers = 2});
  const Tensor x = rand({9, 4, 3});
  const LstmResult whole = net.run(x);
  const LstmResult first = net.run(narrow(x, 0, 0, 4));
  const LstmResult rest = net.run(narrow(x, 0, 4, 5), first.state);
  expect_equal(narrow(whole.output, 0, 4, 5), rest.output);
  expect_equal(whole.state.c, rest.state.c);
}

TEST_F(RecurrentTest, RunsBackwardInTheSecondDirection) {
  RNN net(3, 5, {.bidirectional = true});
  RNN plain(3, 5);
  {
    const NoGrad guard;
    for (const Parameter& parameter : plain.parameters()) {
      const std::string name = std::string(parameter.name) + "_reverse";
      copy_(parameter.tensor, net.parameter(name));
    }
  }
  const Tensor x = rand({6, 2, 3});
  expect_equal(narrow(net(x), 2, 5, 5), flip(plain(flip(x, {0})), {0}));
}

// The weights of `from`'s first layer.
void copy_weights(const Module& from, const Module& to) {
  const NoGrad guard;
  for (const Parameter& parameter : to.parameters()) {
    copy_(parameter.tensor,
          from.parameter(std::string(parameter.name) + "_l0"));
  }
}

TEST_F(RecurrentTest, EqualsItsCellStepByStep) {
  const Tensor x = rand({6, 33, 3});
  LSTM lstm(3, 40);
  LSTMCell lstm_cell(3, 40);
  copy_weights(lstm, lstm_cell);
  LstmState state;
  GRU gru(3, 40);
  GRUCell gru_cell(3, 40);
  copy_weights(gru, gru_cell);
  Tensor h;
  RNN rnn(3, 40, {}, Nonlinearity::kRelu);
  RNNCell rnn_cell(3, 40, true, Nonlinearity::kRelu);
  copy_weights(rnn, rnn_cell);
  Tensor r;
  for (int t = 0; t < 6; ++t) {
    state = lstm_cell.step(select(x, 0, t), state);
    h = gru_cell.step(select(x, 0, t), h);
    r = rnn_cell.step(select(x, 0, t), r);
    expect_equal(select(lstm(x), 0, t), state.h);
    expect_equal(select(gru(x), 0, t), h);
    expect_equal(select(rnn(x), 0, t), r);
  }
  expect_equal(lstm_cell(select(x, 0, 0)), select(lstm(x), 0, 0));
  expect_equal(gru_cell(select(x, 0, 0)), select(gru(x), 0, 0));
  expect_equal(rnn_cell(select(x, 0, 0)), select(rnn(x), 0, 0));
}

// However many steps' inputs are multiplied at once.
TEST_F(RecurrentTest, ComputesASequenceTheSameInABatchOfAnySize) {
  LSTM net(3, 5, {.num_layers = 2, .batch_first = true});
  const Tensor x = rand({600, 5, 3});
  const Tensor all = net(x);
  for (const std::int64_t batch : {2, 200}) {
    expect_equal(narrow(net(narrow(x, 0, 0, batch)), 0, 0, 2),
                 narrow(all, 0, 0, 2));
  }
}

TEST_F(RecurrentTest, DropsBetweenLayersInTrainingOnly) {
  GRU net(3, 5, {.num_layers = 2, .dropout = 0.5});
  const Tensor x = rand({4, 2, 3});
  net.eval();
  expect_equal(net(x), net(x));
  net.train();
  EXPECT_NE(net(x).to_vector(), net(x).to_vector());
  GRU single(3, 5, {.dropout = 0.5});
  expect_equal(single(x), single(x));
}

// Without a derivative, no gates are kept.
TEST_F(RecurrentTest, IsLightInInference) {
  LSTM net(8, 32);
  const Tensor x = rand({400, 4, 8});
  const auto peak_of = [&](bool records) {
    const tensor::UseGradMode guard(records);
    const Bytes before = domain_->stats().live;
    domain_->reset_peak();
    const Tensor y = net(x);
    return domain_->stats().live_peak - before;
  };
  const Bytes y = 400 * 4 * 32 * 4;
  EXPECT_GT(peak_of(true), 6 * y);
  EXPECT_LT(peak_of(false), 4 * y);
}

TEST_F(RecurrentTest, ClonesItsValues) {
  LSTM net(3, 5, {.num_layers = 2, .bidirectional = true});
  LSTM copy = net.clone();
  const Tensor x = rand({4, 2, 3});
  expect_equal(net(x), copy(x));
  {
    const NoGrad guard;
    copy_(copy.parameter("bias_hh_l0"), ones({20}));
  }
  EXPECT_NE(net(x).to_vector(), copy(x).to_vector());
  const GRUCell cell(3, 5);
  const GRUCell other = cell.clone();
  expect_equal(other.parameter("bias_ih"), cell.parameter("bias_ih"));
}

TEST_F(RecurrentTest, RefusesSizesThatCannotBe) {
  EXPECT_THROW(LSTM(0, 2), ValueError);
  EXPECT_THROW(GRU(2, 0), ValueError);
  EXPECT_THROW(RNN(2, 2, {.num_layers = 0}), ValueError);
  EXPECT_THROW(LSTM(2, 2, {.dropout = 1.0}), ValueError);
  EXPECT_THROW(LSTM(2, 2, {}, bf16), DTypeError);
  EXPECT_THROW(LSTMCell(2, 0), ValueError);
}

TEST_F(RecurrentTest, RefusesWhatDoesNotFit) {
  LSTM net(3, 5, {.num_layers = 2});
  EXPECT_THROW(net(zeros({2, 3})), ShapeError);
  EXPECT_THROW(net(zeros({2, 4, 2})), ShapeError);
  EXPECT_THROW(net(zeros({0, 4, 3})), ShapeError);
  const Tensor x = zeros({2, 4, 3});
  const Tensor good = zeros({2, 4, 5});
  EXPECT_THROW(net.run(x, {zeros({1, 4, 5}), zeros({1, 4, 5})}), ShapeError);
  EXPECT_THROW(net.run(x, {zeros({2, 3, 5}), good}), ShapeError);
  EXPECT_THROW(net.run(x, {good, {}}), ValueError);
}

}  // namespace
}  // namespace neap::nn
