// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Recurrent layers in pieces of time have the bits of the whole, or are left
// whole.
#include <gmock/gmock.h>

#include <functional>
#include <string>

#include "neap/autograd/backward.hpp"
#include "neap/compile/trace_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/ops.hpp"
#include "neap/ops/precision.hpp"
#include "neap/program/passes.hpp"
#include "neap/program/programs_for_test.hpp"
#include "neap/program/time_layers.hpp"
#include "neap/threads/pool.hpp"

namespace neap::compiler {
namespace {

enum class Net { kLstm, kGru, kTanh, kRelu };
constexpr std::array kNets{Net::kLstm, Net::kGru, Net::kTanh, Net::kRelu};

// The values that the loss reads.
enum class Reads { kLast, kAll, kBoth };

struct Case {
  Net net = Net::kLstm;
  std::int64_t steps = 7;
  std::int64_t batch = 3;
  std::int64_t features = 5;
  std::int64_t hidden = 4;
  DType dtype = DType::kF32;
  bool has_state = false;
  bool is_reverse = false;
  bool has_bias = true;
  bool is_batch_first = false;
  int layers = 1;
  Reads reads = Reads::kLast;
  bool wants_x = false;
  Precision precision = Precision::kF32;
};

Tensor noise(const Shape& shape, DType dtype) {
  const NoGrad guard;
  Tensor t = cast(randn(shape) * 0.4, dtype);
  return requires_grad_(t);
}

struct World {
  explicit World(const Case& c) {
    const std::int64_t gates = c.net == Net::kLstm  ? 4
                               : c.net == Net::kGru ? 3
                                                    : 1;
    x = noise(c.is_batch_first ? Shape{c.batch, c.steps, c.features}
                               : Shape{c.steps, c.batch, c.features},
              c.dtype);
    for (int i = 0; i < c.layers; ++i) {
      const std::int64_t width = i == 0 ? c.features : c.hidden;
      RecurrentWeights w{noise({gates * c.hidden, width}, c.dtype),
                         noise({gates * c.hidden, c.hidden}, c.dtype)};
      parameters.push_back(w.w_ih);
      parameters.push_back(w.w_hh);
      if (c.has_bias) {
        w.b_ih = noise({gates * c.hidden}, c.dtype);
        w.b_hh = noise({gates * c.hidden}, c.dtype);
        parameters.push_back(w.b_ih);
        parameters.push_back(w.b_hh);
      }
      weights.push_back(w);
      if (c.has_state) {
        h.push_back(noise({c.batch, c.hidden}, c.dtype));
        parameters.push_back(h.back());
        if (c.net == Net::kLstm) {
          cells.push_back(noise({c.batch, c.hidden}, c.dtype));
          parameters.push_back(cells.back());
        }
      }
    }
    if (c.wants_x) {
      parameters.push_back(x);
    }
  }
  Tensor x;
  std::vector<RecurrentWeights> weights;
  std::vector<Tensor> h, cells, parameters;
};

struct Out {
  Tensor y, h, c;
};

Out layer_of(const Case& c, const World& world, int i, const Tensor& x) {
  const auto at = static_cast<std::size_t>(i);
  const Tensor h = c.has_state ? world.h[at] : Tensor();
  if (c.net == Net::kLstm) {
    LstmResult r =
        lstm(x, world.weights[at],
             {h, c.has_state ? world.cells[at] : Tensor()}, c.is_reverse);
    return {r.output, r.state.h, r.state.c};
  }
  RecurrentResult r =
      c.net == Net::kGru
          ? gru(x, world.weights[at], h, c.is_reverse)
          : rnn(x, world.weights[at], h,
                {.nonlinearity = c.net == Net::kRelu ? Nonlinearity::kRelu
                                                     : Nonlinearity::kTanh,
                 .is_reverse = c.is_reverse});
  return {r.output, r.h, {}};
}

using Body = std::function<void(const Tensor& given, Many& out)>;

Body body_of(const Case& c, const World& world) {
  return [&](const Tensor& given, Many& out) {
    const UsePrecision precision(c.precision);
    const Tensor input = world.x + given;
    Out last{c.is_batch_first ? permute(input, {1, 0, 2}) : input, {}, {}};
    for (int i = 0; i < c.layers; ++i) {
      last = layer_of(c, world, i, last.y);
    }
    Tensor loss = sum(square(last.h));
    if (c.reads != Reads::kLast) {
      const Tensor all = sum(last.y * last.y * 0.3);
      loss = c.reads == Reads::kAll ? all : loss + all;
    }
    if (c.reads == Reads::kBoth && last.c.defined()) {
      loss = loss + sum(last.c * 0.7);
    }
    Gradients grads = grad(std::span(&loss, 1), world.parameters);
    out.push_back(loss.detach());
    for (std::size_t i = 0; i < grads.size(); ++i) {
      out.push_back(grads.take(i));
    }
  };
}

Program traced(const Body& body, const Tensor& given) {
  Program program = trace([&](In in, Many& out) { body(in[0], out); },
                          std::array{given.spec()});
  remove_dead_code(program);
  return program;
}

Tensor given_of(const World& world) {
  const NoGrad guard;
  return cast(randn(world.x.shape()) * 0.1, world.x.dtype());
}

// The program in k pieces is valid, and gives the bits of the whole.
void expect_same_in(std::uint32_t k, const Case& c, const Program& whole,
                    const Many& expected, const Tensor& given) {
  SCOPED_TRACE(testing::Message() << k << " pieces");
  Program program = whole.copy();
  const EffectOrder order(program);
  ASSERT_EQ(cut_time(program, k), static_cast<std::size_t>(c.layers));
  ASSERT_EQ(fault_of(program), "");
  EXPECT_EQ(order.fault_of(program), "");
  const std::int64_t each = (c.steps + k - 1) / k;
  EXPECT_EQ(program.fitting.time_pieces, (c.steps + each - 1) / each);
  expect_same(interpret(program, std::span(&given, 1)), expected);
  Program passed = whole.copy();
  run_passes(passed, Passes{.time_pieces = k});
  ASSERT_EQ(fault_of(passed), "");
  EXPECT_EQ(passed.fitting.time_pieces, program.fitting.time_pieces);
  expect_same(interpret(passed, std::span(&given, 1)), expected);
}

void expect_same_bits(const Case& c) {
  SCOPED_TRACE(testing::Message()
               << "net " << static_cast<int>(c.net) << ", " << c.steps
               << " steps of " << c.batch << ", " << c.hidden << " wide"
               << (c.is_reverse ? ", reverse" : "")
               << (c.has_state ? ", from a state" : "") << ", layers "
               << c.layers << ", reads " << static_cast<int>(c.reads));
  seed(3);
  const World world(c);
  const Tensor given = given_of(world);
  const Program whole = traced(body_of(c, world), given);
  const Many expected = interpret(whole, std::span(&given, 1));
  for (std::uint32_t k = 2; k <= static_cast<std::uint32_t>(c.steps) + 1; ++k) {
    expect_same_in(k, c, whole, expected, given);
    if (testing::Test::HasFailure()) {
      return;
    }
  }
}

// Every net, in both directions, with and without a state.
void expect_same_of_all(Case c) {
  for (int k = 0; k < 16 && !testing::Test::HasFailure(); ++k) {
    c.net = kNets.at(static_cast<std::size_t>(k / 4));
    c.is_reverse = k % 2 != 0;
    c.has_state = k / 2 % 2 != 0;
    expect_same_bits(c);
  }
}

TEST(TimePiecesTest, EveryNumberOfPiecesHasTheBitsOfTheWhole) {
  expect_same_of_all({});
  expect_same_of_all({.steps = 2});
  expect_same_of_all({.steps = 6, .batch = 1, .hidden = 1});
}

TEST(TimePiecesTest, WhoeverReadsTheOutput) {
  expect_same_of_all({.reads = Reads::kAll});
  expect_same_of_all({.reads = Reads::kBoth, .wants_x = true});
}

TEST(TimePiecesTest, LayersOnLayers) {
  expect_same_of_all({.steps = 5, .layers = 3, .wants_x = true});
  expect_same_of_all({.steps = 5, .layers = 2, .reads = Reads::kBoth});
}

TEST(TimePiecesTest, BatchesThatComeFirst) {
  expect_same_of_all({.is_batch_first = true, .wants_x = true});
  expect_same_of_all({.has_bias = false, .is_batch_first = true});
}

TEST(TimePiecesTest, DoublesAndBf16) {
  expect_same_of_all({.steps = 5, .dtype = DType::kF64});
  expect_same_of_all(
      {.steps = 5, .batch = 4, .hidden = 5, .precision = Precision::kBf16});
}

TEST(TimePiecesTest, AnyNumberOfThreads) {
  for (const int threads : {1, 2}) {
    threads::Pool pool(threads);
    const tensor::ExecutionGuard guard(
        [&](tensor::Execution& e) { e.executor = &pool; });
    expect_same_bits({.steps = 9, .batch = 130, .features = 33, .hidden = 70});
    expect_same_bits({.net = Net::kGru,
                      .steps = 9,
                      .batch = 130,
                      .features = 33,
                      .hidden = 70,
                      .is_reverse = true,
                      .reads = Reads::kAll});
  }
}

// --- what is left whole ------------------------------------------------------

std::size_t layers_cut(const Case& c, const Body& body, const World& world) {
  Program program = traced(body, given_of(world));
  const std::string before = names_of(program);
  const std::size_t cut = cut_time(program, 3);
  if (cut == 0) {
    EXPECT_EQ(names_of(program), before);
    EXPECT_EQ(program.fitting.time_pieces, 0U);
  }
  EXPECT_EQ(fault_of(program), "");
  EXPECT_GE(c.steps, 1);
  return cut;
}

TEST(TimePiecesTest, WhatHasNoSecondStepOrNoGradientStaysWhole) {
  const Case one{.steps = 1};
  const World first(one);
  EXPECT_EQ(layers_cut(one, body_of(one, first), first), 0U);
  const Case c;
  const World world(c);
  EXPECT_EQ(layers_cut(c, body_of(c, world), world), 1U);
  EXPECT_EQ(layers_cut(
                c,
                [&](const Tensor& given, Many& out) {
                  out.push_back(layer_of(c, world, 0, given).y.detach());
                },
                world),
            0U);
}

// Pairs of rows would be of two pieces.
TEST(TimePiecesTest, OddBatchesInBf16StayWhole) {
  const Case odd{.batch = 3, .precision = Precision::kBf16};
  const World world(odd);
  EXPECT_EQ(layers_cut(odd, body_of(odd, world), world), 0U);
}

// A state of one layer is where another begins.
TEST(TimePiecesTest, ALayerThatBeginsWhereAnotherEnds) {
  for (const bool is_reverse : {false, true}) {
    const Case c{.is_reverse = is_reverse, .layers = 2};
    Case first = c;
    first.hidden = first.features = 4;
    seed(3);
    const World world(first);
    const Tensor given = given_of(world);
    const Body body = [&](const Tensor& some, Many& out) {
      const Tensor x = world.x + some;
      const LstmResult a = lstm(x, world.weights[0], {}, is_reverse);
      const LstmResult b = lstm(tanh(x), world.weights[1], a.state, is_reverse);
      const Tensor loss = sum(square(b.output)) + sum(b.state.c);
      Gradients grads = grad(std::span(&loss, 1), world.parameters);
      for (std::size_t i = 0; i < grads.size(); ++i) {
        out.push_back(grads.take(i));
      }
    };
    const Program whole = traced(body, given);
    const Many expected = interpret(whole, std::span(&given, 1));
    for (const std::uint32_t k : {2U, 3U, 7U}) {
      expect_same_in(k, c, whole, expected, given);
    }
  }
}

TEST(TimePiecesTest, SecondDerivativesLeaveTheLayerWhole) {
  const Case c;
  const World world(c);
  EXPECT_EQ(
      layers_cut(
          c,
          [&](const Tensor& given, Many& out) {
            const Tensor y = layer_of(c, world, 0, world.x + given).y;
            const Tensor loss = sum(square(y));
            const std::array wrt{world.weights[0].w_ih};
            const Tensor d =
                grad(std::span(&loss, 1), wrt, {.create_graph = true}).take(0);
            const Tensor more = sum(square(d));
            out.push_back(grad(std::span(&more, 1), wrt).take(0));
          },
          world),
      0U);
}

// --- what verify() sees ------------------------------------------------------

TEST(TimePiecesTest, PlantedFaultsAreFound) {
  const auto fault_after = [](const std::function<void(Program&)>& change) {
    const Case c{.reads = Reads::kBoth};
    const World world(c);
    Program program = traced(body_of(c, world), given_of(world));
    EXPECT_EQ(cut_time(program, 3), 1U);
    change(program);
    return fault_of(program);
  };
  const auto nth = [](const Program& p, std::string_view name, int n) {
    std::uint32_t i = 0;
    while (p.calls[i].name != name || n-- != 0) {
      ++i;
    }
    return i;
  };
  EXPECT_EQ(fault_after([](Program&) {}), "");
  // Gradients in the order of the steps.
  EXPECT_THAT(fault_after([&](Program& p) {
                p.calls.swap(nth(p, "lstm_grad", 0), nth(p, "lstm_grad", 1));
              }),
              testing::HasSubstr("before it is set"));
  // A product that does not go on with the piece before.
  EXPECT_THAT(fault_after([&](Program& p) {
                const Call a = p.calls[nth(p, "matmul_add", 1)];
                p[p.out(a)[0].value].over = kNoValue;
                const Call b = p.calls[nth(p, "matmul_add", 0)];
                p[p.out(b)[0].value].over =
                    p[p.out(p.calls[nth(p, "matmul_add", 2)])[0].value].over;
              }),
              testing::Not(""));
}

}  // namespace
}  // namespace neap::compiler
