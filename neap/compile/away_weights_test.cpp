// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Weights are in a file between the runs of a step that a budget leaves no
// memory for them, and between their uses in a run, and nobody sees a
// difference.
#include <gmock/gmock.h>

#include "neap/base/error.hpp"
#include "neap/base/sanitizer.hpp"
#include "neap/compile/away_for_test.hpp"
#include "neap/compile/fitting.hpp"
#include "neap/program/print.hpp"
#include "neap/threads/pool.hpp"

namespace neap::compiler {
namespace {

using testing::HasSubstr;

struct Trained {
  std::vector<double> losses;
  Fitting fitting{};
  int away = 0;
};

class AwayWeightsTest : public AwayTest {
 protected:
  // Random programs have their weights away there (tests/programs).
  void SetUp() override {
    if (base::kAddressSanitizer) {
      GTEST_SKIP() << "blocks are held by the byte: the room is another one";
    }
    // The stacks of its workers are in use before a budget is made, whichever
    // test is the first of the process and however many processors there are.
    threads::process_pool();
  }
  static constexpr int kSteps = 4;
  static constexpr std::int64_t kRows = 64;  // for a larger arena

  template <class Step>
  static std::vector<double> run(AwayNet& net, Step& step,
                                 std::int64_t rows = 16) {
    std::vector<double> losses;
    losses.reserve(kSteps);
    for (int i = 0; i < kSteps; ++i) {
      losses.push_back(net.run(step, rows));
    }
    return losses;
  }
  static Trained train(AwayNet& net, const CompileOptions& options) {
    auto step = net.compiled(options);
    Trained out{.losses = run(net, step)};
    out.fitting = step.program().fitting;
    out.away = net.weights_away();
    return out;
  }
  // A step that reads the weights, and writes nothing.
  static auto predicting(AwayNet& net, const CompileOptions& options) {
    const AwayNet::Here here(net);
    return neap::compile(
        [&net](const Tensor& x) {
          const NoGrad no_grad;
          return net.forward(x);
        },
        options);
  }
};

TEST_F(AwayWeightsTest, TheSameBitsAtEveryBudget) {
  AwayNet plain;
  const Trained whole = train(plain, {});
  std::int64_t extra = 0;
  std::uint32_t most = 0;
  for (int kib = 1900; kib >= 850; kib -= 350) {
    SCOPED_TRACE(kib);
    AwayNet net;
    const Trained some = train(net, within(net, kib * kKiB));
    EXPECT_EQ(some.losses, whole.losses);
    EXPECT_EQ(some.away, static_cast<int>(some.fitting.weights));
    EXPECT_EQ(net.away(), static_cast<int>(some.fitting.away));
    EXPECT_GE(some.fitting.extra, extra);  // never falls
    EXPECT_LE(some.fitting.bound, some.fitting.extra);
    expect_same(net, plain);
    extra = some.fitting.extra;
    most = std::max(most, some.fitting.weights);
  }
  EXPECT_EQ(most, AwayNet::kLayers);
}

TEST_F(AwayWeightsTest, ThePredictionSaysIt) {
  AwayNet net;
  auto step = net.compiled(within(net, kTighter));
  const AwayNet::Here here(net);
  step.prepare({tensor::Spec{f32, {16, AwayNet::kWidth}}});
  const Prediction prediction = step.prediction();
  EXPECT_EQ(prediction.fitting.weights, AwayNet::kLayers);
  EXPECT_EQ(prediction.fitting.weight_bytes, AwayNet::kWeights);
  EXPECT_EQ(prediction.fitting.away_bytes, AwayNet::kWeights + AwayNet::kState);
  EXPECT_GE(prediction.fitting.written, AwayNet::kWeights + AwayNet::kState);
  EXPECT_GT(prediction.fitting.fetched, AwayNet::kWeights + AwayNet::kState);
  EXPECT_THAT(std::string(format(prediction)),
              HasSubstr("8 weights and 16 states in a file"));
  EXPECT_THAT(std::string(to_json(prediction)),
              HasSubstr("\"weights_away\":8"));
}

TEST_F(AwayWeightsTest, StatesStayWhereOnlyWeightsMayGo) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  for (AwayNet* each : {&plain, &net}) {
    auto eager = each->function();
    each->run(eager);
  }
  CompileOptions options = within(net, 850 * kKiB);
  options.spill.states = false;
  auto step = net.compiled(options);
  EXPECT_EQ(run(net, step, kRows), run(plain, whole, kRows));
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  EXPECT_EQ(net.away(), 0);
  expect_same(net, plain);
}

TEST_F(AwayWeightsTest, WeightsStayWhereOnlyStatesMayGo) {
  AwayNet net;
  CompileOptions options = within(net, kTighter);
  options.spill.weights = false;
  auto step = net.compiled(options);
  EXPECT_THROW(net.run(step), Error);
  EXPECT_EQ(net.weights_away(), 0);
}

TEST_F(AwayWeightsTest, InEveryKindOfRun) {
  AwayNet plain;
  const Trained whole = train(plain, {});
  alignas(4096) static std::array<std::byte, 1 << 20> block;
  const auto expect_same_with = [&](const auto& change) {
    AwayNet net;
    CompileOptions options = within(net, kTighter);
    change(options);
    const Trained some = train(net, options);
    EXPECT_EQ(some.losses, whole.losses);
    if (options.memory.empty()) {  // else no budget counts the arena
      EXPECT_GT(some.away, 0) << ways_of(some.fitting);
    }
    expect_same(net, plain);
  };
  expect_same_with([](CompileOptions& o) { o.debug.poison = true; });
  expect_same_with([](CompileOptions& o) { o.debug.guards = true; });
  expect_same_with([](CompileOptions& o) { o.paged = true; });
  expect_same_with([](CompileOptions& o) { o.passes.in_place = false; });
  expect_same_with([](CompileOptions& o) { o.passes.fuse = false; });
  expect_same_with(
      [](CompileOptions& o) { o.passes.gradient_release = false; });
  expect_same_with([](CompileOptions& o) { o.memory = block; });
}

// A dry run asks for what the run will ask for.
TEST_F(AwayWeightsTest, ARehearsalHoldsAsMuch) {
  std::array<Bytes, 2> held{};
  AwayNet first;  // code that is touched for the first time takes memory, too
  train(first, within(first, kTighter));
  for (const bool is_dry : {false, true}) {
    AwayNet net(is_dry);
    auto step = net.compiled(within(net, kTighter));
    const AwayNet::Here here(net);
    const Bytes before = net.domain->stats().live;
    step(net.batch());
    held[is_dry ? 1 : 0] = net.domain->stats().live - before;
    EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  }
  EXPECT_EQ(held[0], held[1]);
}

// --- from outside ------------------------------------------------------------

TEST_F(AwayWeightsTest, WhoeverLooksAtAWeightSeesItAndMayChangeIt) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto step = net.compiled(within(net, kTighter));
  EXPECT_EQ(run(net, step), run(plain, whole));
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  EXPECT_EQ(net.weights[0].at({3, 5}), plain.weights[0].at({3, 5}));
  EXPECT_EQ(sum(net.weights[1]).item(), sum(plain.weights[1]).item());
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers - 2);
  for (AwayNet* each : {&plain, &net}) {
    const NoGrad no_grad;
    fill_(select(each->weights[2].detach(), 0, 7), 0.25);
  }
  EXPECT_EQ(run(net, step), run(plain, whole));
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  expect_same(net, plain);
}

TEST_F(AwayWeightsTest, AnEagerStepGoesOn) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto step = net.compiled(within(net, kTighter));
  auto eager = plain.function();
  auto eager_too = net.function();
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(net.run(step), plain.run(whole));
    EXPECT_EQ(net.run(eager_too), plain.run(eager));
  }
  expect_same(net, plain);
}

// --- several steps -----------------------------------------------------------

TEST_F(AwayWeightsTest, AStepThatPredictsReadsThem) {
  AwayNet plain;
  auto whole = plain.compiled({});
  auto plainly = predicting(plain, {});
  AwayNet net;
  const CompileOptions options = within(net, kTighter);
  auto step = net.compiled(options);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(net.run(step), plain.run(whole));
    auto predict = predicting(net, options);
    EXPECT_EQ(net.run(predict), plain.run(plainly));
    EXPECT_EQ(net.run(predict), plain.run(plainly));
    EXPECT_EQ(predict.program().fitting.weights, AwayNet::kLayers);
    EXPECT_EQ(predict.program().fitting.written, 0);
    EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  }
  expect_same(net, plain);
}

TEST_F(AwayWeightsTest, TwoStepsShareWeights) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto first = net.compiled(within(net, kTighter));
  net.run(first);
  auto second = net.compiled(within(net, kTighter + AwayNet::kWeights / 2));
  auto third = net.compiled({});
  plain.run(whole);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(net.run(first), plain.run(whole));
    EXPECT_EQ(net.run(second), plain.run(whole));
    EXPECT_EQ(net.run(third), plain.run(whole));
  }
  expect_same(net, plain);
}

TEST_F(AwayWeightsTest, AnotherShapeIsTracedWhileWeightsAreAway) {
  AwayNet plain;
  auto whole = plain.compiled({});
  AwayNet net;
  auto step = net.compiled(within(net, kTighter + 100 * kKiB));
  for (const std::int64_t rows : {16, 8, 16, 5, 8}) {
    EXPECT_EQ(net.run(step, rows), plain.run(whole, rows)) << rows;
  }
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  expect_same(net, plain);
}

// The run has a copy, where an argument is the weight that it only reads.
TEST_F(AwayWeightsTest, AnArgumentThatIsAWeight) {
  AwayNet plain;
  AwayNet net;
  const CompileOptions options = within(net, kTighter);
  auto step = net.compiled(options);
  net.run(step);
  auto eager = plain.function();
  plain.run(eager);
  auto predict = predicting(net, options);
  net.run(predict);
  const AwayNet::Here here(net);
  const auto some = [](const AwayNet& from) {
    return narrow(from.weights[3].detach(), 0, 0, 16);
  };
  const double whole = plain.forward(some(plain)).item();
  EXPECT_EQ(predict(some(net)).item(), whole);
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers - 1);
  EXPECT_EQ(predict(some(net)).item(), whole);
  EXPECT_THROW(step(some(net)), ValueError);
  expect_same(net, plain);
}

// --- weights that are used more than once ------------------------------------

// The first and the last layer have one weight, turned.
TEST_F(AwayWeightsTest, TiedWeights) {
  const auto function = [](AwayNet& net) {
    return [&net](const Tensor& x) {
      Tensor y = x;
      for (const Tensor& w : net.weights) {
        y = tanh(matmul(y, w));
      }
      Tensor loss = sum(square(matmul(y, transpose(net.weights[0]))));
      backward(loss);
      net.adam->step({.release_gradients = true});
      return loss;
    };
  };
  AwayNet plain;
  AwayNet net;
  auto whole = [&] {
    const AwayNet::Here here(plain);
    return neap::compile(function(plain));
  }();
  const CompileOptions options = within(net, kTighter);
  auto step = [&] {
    const AwayNet::Here here(net);
    return neap::compile(function(net), options);
  }();
  EXPECT_EQ(run(net, step), run(plain, whole));
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  expect_same(net, plain);
}

TEST_F(AwayWeightsTest, GradientsStayForAnEagerUpdate) {
  const auto function = [](AwayNet& net) {
    return [&net](const Tensor& x) {
      Tensor loss = net.forward(x);
      backward(loss);
      return loss;
    };
  };
  AwayNet plain;
  AwayNet net;
  for (AwayNet* each : {&plain, &net}) {  // moments that stay at home
    auto eager = each->function();
    each->run(eager);
  }
  const CompileOptions options = within(net, AwayNet::kWeights + 800 * kKiB);
  auto step = [&] {
    const AwayNet::Here here(net);
    return neap::compile(function(net), options);
  }();
  auto whole = function(plain);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(net.run(step, kRows), plain.run(whole, kRows));
    EXPECT_GT(net.weights_away(), 0);
    for (AwayNet* each : {&plain, &net}) {
      const AwayNet::Here here(*each);
      each->adam->step();
      each->adam->zero_grad();
    }
  }
  expect_same(net, plain);
}

// --- the end of a step -------------------------------------------------------

TEST_F(AwayWeightsTest, AStepThatEndsLosesNothing) {
  AwayNet plain;
  const Trained whole = train(plain, {});
  AwayNet net;
  const Trained some = train(net, within(net, kTighter));
  EXPECT_EQ(some.losses, whole.losses);
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
  expect_same(net, plain);
  EXPECT_EQ(net.weights_away(), 0);
}

TEST_F(AwayWeightsTest, ResetBringsThemHome) {
  AwayNet plain;
  train(plain, {});
  AwayNet net;
  auto step = net.compiled(within(net, kTighter));
  run(net, step);
  {
    const AwayNet::Here here(net);
    step.reset();
  }
  EXPECT_EQ(net.weights_away(), 0);
  expect_same(net, plain);
}

TEST_F(AwayWeightsTest, WithoutMemoryForItAWeightIsRefusedAndStays) {
  AwayNet net;
  auto step = net.compiled(within(net, kTighter));
  net.run(step);
  {
    const AwayNet::Here here(net);
    net.domain->trim();
    const Budget tight(net.in_use() + 16 * kKiB);
    EXPECT_THROW(net.weights[0].to_vector(), OutOfMemory);
  }
  EXPECT_EQ(net.weights_away(), AwayNet::kLayers);
}

}  // namespace
}  // namespace neap::compiler
