// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// MultiheadAttention and rotary_embedding give PyTorch's results and gradients;
// SwiGlu is what its formula says.
#include "neap/nn/attention.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/init.hpp"
#include "neap/nn/swiglu.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/figures_for_test.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/sequence/rotary_embedding.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using testing::expect_near;
using testing::wave;

#include "neap/nn/attention_figures.inc"

constexpr double kTolerance = 1e-13;
constexpr const char* kNames[] = {"in_proj_weight", "in_proj_bias",
                                  "out_proj.weight", "out_proj.bias"};

Tensor rows_of_x() {
  return wave({2, 4, 6}, [](double i) { return std::sin(0.8 * i); });
}

class AttentionTest : public DoorTest {
 protected:
  MultiheadAttention layer() {
    MultiheadAttention attention(6, 3, {.dtype = f64});
    const NoGrad guard;
    double p = 0;
    for (const char* name : kNames) {
      copy_(attention.parameter(name),
            wave(attention.parameter(name).shape(),
                 [&](double i) { return 0.3 * std::sin(1.7 * i + 0.9 * p); }));
      p += 1;
    }
    return attention;
  }

  // The gradients of the inputs and then the parameters, each as one number.
  static void expect_gradients(const std::vector<Tensor>& inputs,
                               const Module& attention,
                               std::span<const double> want) {
    std::vector<Tensor> leaves = inputs;
    for (const char* name : kNames) {
      leaves.push_back(attention.parameter(name));
    }
    ASSERT_EQ(leaves.size(), want.size());
    for (std::size_t k = 0; k < leaves.size(); ++k) {
      const memory::Vector<double> dx = leaves[k].grad().to_vector();
      double projection = 0;
      for (std::size_t i = 0; i < dx.size(); ++i) {
        projection += dx[i] * std::cos(0.3 * static_cast<double>(i));
      }
      EXPECT_NEAR(projection, want[k], kTolerance) << k;
    }
  }
};

TEST_F(AttentionTest, OfASequenceToItselfIsPyTorchs) {
  MultiheadAttention attention = layer();
  const Tensor x = requires_grad_(rows_of_x());
  const Tensor y = attention(x, x, x, {.is_causal = true});
  expect_near(y, kSelfResult, kTolerance);
  backward(mean(square(y)));
  expect_gradients({x}, attention, kSelfGradients);
}

TEST_F(AttentionTest, OfOneSequenceToAnotherIsPyTorchs) {
  MultiheadAttention attention = layer();
  const Tensor x = requires_grad_(rows_of_x());
  const Tensor other = requires_grad_(
      wave({2, 5, 6}, [](double i) { return std::cos(0.5 * i); }));
  const Tensor sees = wave(
      {4, 5},
      [](double i) { return std::floor(i / 5) + std::fmod(i, 5) != 3 ? 1 : 0; },
      boolean);
  const Tensor y = attention(x, other, other, {.mask = sees});
  expect_near(y, kCrossResult, kTolerance);
  backward(mean(square(y)));
  expect_gradients({x, other}, attention, kCrossGradients);
}

TEST_F(AttentionTest, ProjectsTheSameInAnyNumberOfPieces) {
  MultiheadAttention attention = layer();
  const Tensor x = rows_of_x();
  const Tensor once = attention(x, x, x);
  EXPECT_EQ(attention(x).to_vector(), once.to_vector());
  EXPECT_EQ(attention(x.alias(), x, x).to_vector(), once.to_vector());
  EXPECT_EQ(attention(x.alias(), x.alias(), x).to_vector(), once.to_vector());
}

TEST_F(AttentionTest, DropsWeightsInTrainingOnly) {
  MultiheadAttention attention(6, 3, {.dropout = 0.5, .bias = false});
  EXPECT_EQ(attention.parameter_count(), 4 * 36);
  const Tensor x = wave(
      {2, 4, 6}, [](double i) { return std::sin(i); }, f32);
  EXPECT_NE(attention(x).to_vector(), attention(x).to_vector());
  attention.eval();
  EXPECT_EQ(attention(x).to_vector(), attention(x).to_vector());
  EXPECT_EQ(attention.clone()(x).to_vector(), attention(x).to_vector());
}

TEST_F(AttentionTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW(MultiheadAttention(6, 4), ValueError);
  EXPECT_THROW(MultiheadAttention(0, 1), ValueError);
  EXPECT_THROW(MultiheadAttention(6, 3, {.dropout = 1.0}), ValueError);
  EXPECT_THROW(MultiheadAttention(6, 3, {.dtype = i32}), DTypeError);
  MultiheadAttention attention(6, 3);
  EXPECT_THROW(attention(zeros({4, 6})), ShapeError);
  EXPECT_THROW(attention(zeros({2, 4, 5})), ShapeError);
}

TEST_F(AttentionTest, RotaryEmbeddingIsRoFormers) {
  expect_near(rotary_embedding(rows_of_x()), kHalves, kTolerance);
  expect_near(
      rotary_embedding(rows_of_x(), {.pairs = RotaryPairs::kInterleaved}),
      kInterleaved, kTolerance);
}

TEST_F(AttentionTest, SwiGluIsItsFormula) {
  SwiGlu layer(4, 7, true, f64);
  EXPECT_EQ(layer.parameters().size(), 6U);
  const Tensor x = wave({3, 4}, [](double i) { return std::sin(0.8 * i); });
  const auto of = [&](const char* name, const Tensor& in) {
    Linear part(layer.parameter(std::string(name) + ".weight").shape()[1],
                layer.parameter(std::string(name) + ".weight").shape()[0], true,
                f64);
    const NoGrad guard;
    copy_(part.weight(), layer.parameter(std::string(name) + ".weight"));
    copy_(part.bias(), layer.parameter(std::string(name) + ".bias"));
    return part(in);
  };
  const memory::Vector<double> want =
      of("w2", mul(silu(of("w1", x)), of("w3", x))).to_vector();
  expect_near(layer(x), std::span(want.data(), want.size()), kTolerance);
  EXPECT_EQ(layer.clone()(x).to_vector(), layer(x).to_vector());
}

}  // namespace
}  // namespace neap::nn
