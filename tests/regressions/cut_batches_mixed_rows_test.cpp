// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Steps in shards and in micro-batches gave wrong numbers, or crashed, where
// rows were seen at other positions than their own: parts of the batch under
// one weight, positions as many as rows, time before rows, dense inputs of
// recurrent layers, values of no bytes, sums that begin with a captured tensor.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile_for_test.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/recurrent.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using testing::HasSubstr;
using Step = std::function<Tensor(const Tensor&)>;

struct Outcome {
  std::vector<double> result;
  std::vector<double> gradients;
};

template <class Run>
Outcome outcome_of(const nn::Module& net, Run&& run, const Tensor& x) {
  const auto values = run(x).to_vector();
  Outcome out{.result = {values.begin(), values.end()}, .gradients = {}};
  for (const auto& parameter : net.parameters()) {
    if (parameter.tensor.grad().defined()) {
      for (const double g : parameter.tensor.grad().to_vector()) {
        out.gradients.push_back(g);
      }
      set_grad(parameter.tensor, Tensor());
    }
  }
  return out;
}

void expect_near(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], 1e-5 * (1 + std::abs(b[i]))) << i;
  }
}

// A step's eager result and gradients beside those of every cut.
void expect_cuts(const nn::Module& net, const Step& f, const Tensor& x) {
  const Outcome eager = outcome_of(net, f, x);
  for (const std::uint32_t count : {2U, 3U}) {
    for (const bool is_plain : {false, true}) {
      CompileOptions options;
      options.passes = is_plain ? compiler::Passes::none() : compiler::Passes{};
      options.passes.micro_batches = count;
      options.debug.poison = true;
      options.debug.guards = true;
      auto micro = compile(f, options);
      const Outcome parts = outcome_of(net, micro, x);
      EXPECT_EQ(parts.result, eager.result) << count << is_plain;
      EXPECT_EQ(parts.gradients, eager.gradients) << count << is_plain;
      options.passes.micro_batches = 0;
      options.shards = static_cast<int>(count);
      auto sharded = compile(f, options);
      const Outcome shards = outcome_of(net, sharded, x);
      expect_near(shards.result, eager.result);
      expect_near(shards.gradients, eager.gradients);
    }
  }
}

Tensor trained(const Tensor& loss) {
  backward(loss);
  return loss.detach();
}

TEST(CutBatchesTest, OneLayerOfTwoHalvesOfTheBatch) {
  seed(1);
  const nn::Linear layer(5, 4);
  const auto halves = [&](const Tensor& x, const std::int64_t rows) {
    return trained(mean(square(layer(slice(x, 0, 0, rows / 2)))) +
                   mean(tanh(layer(slice(x, 0, rows / 2, rows)))));
  };
  for (const std::int64_t rows : {6, 7, 200}) {
    expect_cuts(
        layer, [&](const Tensor& x) { return halves(x, rows); },
        randn({rows, 5}));
  }
}

TEST(CutBatchesTest, AsManyPositionsAsRows) {
  seed(1);
  const nn::Linear layer(5, 5);
  const auto second = [](const Tensor& x) {
    return slice(reshape(tanh(x), {14, 5}), 0, 7, 14);
  };
  const std::vector<Step> steps{
      [&](const Tensor& x) { return layer(second(x)).detach(); },
      [&](const Tensor& x) { return second(x) + select(x, 1, 0); },
      [&](const Tensor& x) {
        return matmul(transpose(second(x)), select(x, 1, 0));
      },
      [&](const Tensor& x) {
        const Tensor first = select(x, 1, 0);
        return where(gt(first, 0), second(x), first);
      },
      [&](const Tensor& x) {
        return concat({second(x), select(x, 1, 0)}, 1);
      }};
  const Tensor x = randn({7, 2, 5});
  for (const Step& step : steps) {
    expect_cuts(layer, step, x);
  }
}

TEST(CutBatchesTest, TimeBeforeRows) {
  seed(1);
  const nn::Linear layer(4, 3);
  const std::vector<Step> steps{
      [&](const Tensor& x) { return layer(transpose(x, 0, 1)).detach(); },
      [&](const Tensor& x) {
        return trained(mean(square(repeat(layer(x), {2, 1, 1}))));
      },
      [&](const Tensor& x) {
        return tanh(repeat(reshape(x, {x.size(0), -1}), {2, 1}));
      }};
  const Tensor x = randn({6, 5, 4});
  for (const Step& step : steps) {
    expect_cuts(layer, step, x);
  }
}

template <class Layer>
void expect_recurrent_cuts() {
  for (const bool batch_first : {false, true}) {
    for (const int layers : {1, 2}) {
      seed(1);
      const Layer net(3, 5,
                      nn::RecurrentOptions{.num_layers = layers,
                                           .batch_first = batch_first,
                                           .bidirectional = layers == 2});
      const Tensor x = batch_first ? randn({7, 6, 3}) : randn({6, 7, 3});
      expect_cuts(
          net,
          [&](const Tensor& batch) {
            return trained(mean(square(net.run(batch).output)));
          },
          x);
    }
  }
}

TEST(CutBatchesTest, RecurrentLayers) {
  expect_recurrent_cuts<nn::RNN>();
  expect_recurrent_cuts<nn::GRU>();
  expect_recurrent_cuts<nn::LSTM>();
}

TEST(CutBatchesTest, ValuesOfNoBytes) {
  seed(1);
  const nn::Linear layer(5, 4);
  const std::vector<Step> steps{
      [&](const Tensor& x) {
        return sum(matmul(matmul(x, zeros({5, 0})), zeros({0, 4})));
      },
      [&](const Tensor& x) {
        return concat({tanh(slice(tanh(x), 1, 0, 0)), x}, 1);
      },
      [&](const Tensor& x) { return tanh(slice(tanh(x), 1, 2, 2)); }};
  for (const Step& step : steps) {
    expect_cuts(layer, step, randn({6, 5}));
  }
}

TEST(CutBatchesTest, ASumThatBeginsWithACapturedTensor) {
  seed(1);
  const nn::Linear none(1, 1);
  const Tensor kept = randn({3, 4});
  const Tensor positions = from_values({0, 2, 1, 2, 0, 2, 1}, {7, 1}, i64);
  const Tensor index = contiguous(expand(positions, {7, 4}));
  expect_cuts(
      none,
      [&](const Tensor& x) { return scatter_add(kept, 0, index, tanh(x)); },
      randn({7, 4}));
}

TEST(CutBatchesTest, ABatchWithGapsIsRefusedInShards) {
  const auto f = [](const Tensor& x) { return sum(tanh(x), {0}); };
  const Tensor view = transpose(randn({3, 8}));
  auto step = compile(f, {.shards = 2});
  try {
    step(view);
    ADD_FAILURE();
  } catch (const ValueError& error) {
    EXPECT_THAT(error.what(), HasSubstr("argument 0 of the batch, [8, 3]"));
  }
  auto micro = compile(f, {.passes = {.micro_batches = 2}});
  EXPECT_EQ(micro(view).to_vector(), f(view).to_vector());
}

TEST(CutBatchesTest, ThePredictionSaysThatNothingIsCut) {
  auto step = compile([](const Tensor& x) { return tanh(x); }, {.shards = 4});
  step(ones({1, 3}));
  EXPECT_THAT(format(step.prediction()),
              HasSubstr("a batch of 1 in 1 shard: 0 calls for each"));
}

}  // namespace
}  // namespace neap
