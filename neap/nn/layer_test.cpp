// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>

#include "neap/autograd/backward.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/nn/layers.hpp"
#include "neap/nn/linear.hpp"
#include "neap/nn/losses.hpp"
#include "neap/nn/sequential.hpp"
#include "neap/ops/elementwise/assign.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"
#include "neap/tensor/door_test.hpp"

namespace neap::nn {
namespace {

using memory::Category;
using ::testing::Each;
using ::testing::ElementsAre;

// Keeps what the context says inside its forward.
class Witness : public Layer {
 public:
  Tensor forward(const Tensor& x) const override {
    owner = memory::domain().path_of(memory::context().owner);
    line = base::site_of(memory::context().site).line;
    return x;
  }
  mutable std::string owner;
  mutable int line = 0;
};

class Pair : public Layer {
 public:
  Witness inner;
  Pair() { register_module("inner", inner); }
  Tensor forward(const Tensor& x) const override { return inner(x); }
};

class Holder : public Layer {
 public:
  Pair pair;
  Holder() { register_module("pair", pair); }
  Tensor forward(const Tensor& x) const override { return pair(x); }
};

class LayerTest : public DoorTest {};

TEST_F(LayerTest, CountsUnderItsPathAtTheOutermostCallersLine) {
  Holder top;
  const Tensor x = ones({1});
  const int line = __LINE__ + 1;
  top(x);
  EXPECT_EQ(top.pair.inner.owner, "pair.inner");
  EXPECT_EQ(top.pair.inner.line, line);
  EXPECT_EQ(memory::context().owner.value, 0U);
}

TEST_F(LayerTest, PutsActivationsOfALayerUnderItsName) {
  Sequential net(named("fc", Linear(3, 4)), ReLU());
  const Tensor y = net(ones({2, 3}));
  // The relu's output and the bits that its vjp reads; the linear's is gone.
  EXPECT_EQ(live(Category::kActivations, "fc"), 0);
  EXPECT_EQ(live(Category::kActivations, "1"), 32 + 1);
}

TEST_F(LayerTest, LinearComputesXTimesWeightTransposedPlusBias) {
  Linear fc(2, 3);
  Tensor weight = fc.weight();
  Tensor bias = fc.bias();
  const std::vector<float> w = {1, 2, 3, 4, 5, 6};
  std::ranges::copy(w, weight.mutable_values<float>().begin());
  std::ranges::copy(std::vector<float>{10, 20, 30},
                    bias.mutable_values<float>().begin());
  const Tensor y = fc(from_values({1, 1, 2, 0}, {2, 2}));
  EXPECT_THAT(y.to_vector(), ElementsAre(13, 27, 41, 12, 26, 40));
}

TEST_F(LayerTest, LinearHasGradientsOfWeightAndBias) {
  Linear fc(2, 2);
  backward(sum(fc(from_values({1, 2}, {1, 2}))));
  EXPECT_THAT(fc.weight().grad().to_vector(), ElementsAre(1, 2, 1, 2));
  EXPECT_THAT(fc.bias().grad().to_vector(), ElementsAre(1, 1));
  fc.zero_grad();
}

TEST_F(LayerTest, LinearBeginsWithinOneOverRootOfInputs) {
  const Linear fc(16, 200);
  double largest = 0.0;
  for (const double w : fc.weight().to_vector()) {
    largest = std::max(largest, std::abs(w));
  }
  EXPECT_LE(largest, 0.25);
  EXPECT_GT(largest, 0.24);
}

TEST_F(LayerTest, LinearDrawsNothingWhereItFails) {
  for (int n = 1;; ++n) {
    domain_->fail_at(n);
    try {
      const Linear fc(4, 4);
      domain_->fail_at(0);
      EXPECT_GT(n, 5);
      break;
    } catch (const OutOfMemory&) {
      domain_->fail_at(0);
      EXPECT_EQ(generator_.state().draw, 0U) << n;
      EXPECT_EQ(domain_->stats().live, 0) << n;
    }
  }
  EXPECT_EQ(generator_.state().draw, 2U);
}

TEST_F(LayerTest, LinearMayGoWithoutBiasAndInDoubles) {
  Linear fc(2, 3, false, f64);
  EXPECT_FALSE(fc.bias().defined());
  EXPECT_EQ(fc.parameters().size(), 1U);
  EXPECT_EQ(fc(ones({1, 2}, f64)).dtype(), f64);
}

TEST_F(LayerTest, LinearRefusesBadExtentsAndDTypes) {
  EXPECT_THROW(Linear(0, 3), ValueError);
  EXPECT_THROW(Linear(3, -1), ValueError);
  EXPECT_THROW(Linear(3, 3, true, i64), DTypeError);
}

TEST_F(LayerTest, ActivationsComputeTheirFunctions) {
  const Tensor x = from_values({-1, 2}, {2}, f64);
  EXPECT_THAT(ReLU()(x).to_vector(), ElementsAre(0, 2));
  EXPECT_NEAR(Tanh()(x).at({1}), std::tanh(2.0), 1e-15);
  EXPECT_NEAR(Sigmoid()(x).at({0}), 1.0 / (1.0 + std::exp(1.0)), 1e-15);
}

TEST_F(LayerTest, ActivationsTakeTheirParameters) {
  const Tensor x = from_values({-1, 2}, {2}, f64);
  const double tail = std::exp(-1.0);
  EXPECT_THAT(LeakyReLU(0.25)(x).to_vector(), ElementsAre(-0.25, 2));
  EXPECT_NEAR(ELU(2.0)(x).at({0}), 2.0 * (tail - 1.0), 1e-15);
  EXPECT_NEAR(Softplus(2.0, 3.0)(x).at({0}), std::log1p(tail * tail) / 2.0,
              1e-15);
  EXPECT_EQ(Softplus(2.0, 3.0)(x).at({1}), 2.0);
  EXPECT_NEAR(SiLU()(x).at({0}), -tail / (1.0 + tail), 1e-15);
  EXPECT_NEAR(Mish()(x).at({0}), -std::tanh(std::log1p(tail)), 1e-15);
  EXPECT_NEAR(GELU()(x).at({0}), -0.5 * std::erfc(std::sqrt(0.5)), 1e-15);
  EXPECT_NE(GELU(GeluForm::kTanh)(x).at({0}), GELU()(x).at({0}));
  EXPECT_THROW(ELU(-1.0), ValueError);
  EXPECT_THROW(Softplus(0.0), ValueError);
}

TEST_F(LayerTest, DropoutDropsWhileTrainingOnly) {
  Dropout layer(0.5);
  const Tensor x = ones({1000});
  const Tensor trained = layer(x);
  double kept = 0.0;
  for (const double y : trained.to_vector()) {
    EXPECT_TRUE(y == 0.0 || y == 2.0);
    kept += y / 2.0;
  }
  EXPECT_NEAR(kept, 500.0, 80.0);
  layer.eval();
  EXPECT_THAT(layer(x).to_vector(), Each(1.0));
}

TEST_F(LayerTest, DropoutRefusesProbabilitiesOutsideItsRange) {
  EXPECT_THROW(Dropout(1.0), ValueError);
  EXPECT_THROW(Dropout(-0.1), ValueError);
  EXPECT_THROW(Dropout(std::nan("")), ValueError);
}

TEST_F(LayerTest, FlattenKeepsTheSampleAxis) {
  Flatten flatten;
  EXPECT_EQ(flatten(ones({2, 3, 4})).shape(), Shape({2, 12}));
  EXPECT_EQ(flatten(ones({5})).shape(), Shape({5, 1}));
  EXPECT_EQ(flatten(ones({0, 3, 4})).shape(), Shape({0, 12}));
  EXPECT_THROW(flatten(ones({})), ShapeError);
}

TEST_F(LayerTest, SequentialNamesLayersByPositionOrAsTold) {
  Sequential net(Linear(4, 3), ReLU(), named("head", Linear(3, 2)));
  EXPECT_EQ(net.size(), 3);
  const ParameterList list = net.parameters();
  ASSERT_EQ(list.size(), 4U);
  EXPECT_EQ(list[0].name, "0.weight");
  EXPECT_EQ(list[3].name, "head.bias");
  EXPECT_EQ(net(ones({5, 4})).shape(), Shape({5, 2}));
  EXPECT_THROW((void)net[3], ValueError);
}

TEST_F(LayerTest, SequentialNestsAndMoves) {
  Sequential block(Linear(4, 4), Tanh());
  Sequential net(named("block", std::move(block)), Linear(4, 1));
  Sequential moved = std::move(net);
  EXPECT_EQ(moved.parameters().front().name, "block.0.weight");
  EXPECT_EQ(moved(ones({2, 4})).shape(), Shape({2, 1}));
  EXPECT_EQ(live(Category::kParameters, "block.0.weight"), 64);
}

TEST_F(LayerTest, SequentialIsUnchangedWhenAPushFails) {
  Sequential net(named("a", ReLU()));
  EXPECT_THROW(net.push("a", Linear(2, 2)), NameError);
  EXPECT_EQ(net.size(), 1);
  EXPECT_TRUE(net.parameters().empty());
}

TEST_F(LayerTest, SequentialFreesWhatNoLayerNeeds) {
  Sequential net(Linear(64, 64), Linear(64, 64), Linear(64, 64));
  const NoGrad guard;
  const Tensor x = ones({64, 64});
  const Bytes before = domain_->stats().live;
  net(x);
  domain_->reset_peak();
  net(x);
  // Two activations at once, and what a product needs to pack.
  const Bytes activation = 64 * 64 * 4;
  EXPECT_LT(domain_->stats().live_peak - before, 3 * activation + 256 * kKiB);
  EXPECT_EQ(domain_->stats().live, before);
}

TEST_F(LayerTest, AccuracyCountsRowsWhoseLargestIsAtTheLabel) {
  const Tensor logits =
      from_values({1, 2, 3, 0, 5, 5, NAN, 9, 0, 0, 0, 1}, {4, 3});
  EXPECT_EQ(accuracy(logits, from_values({1, 1, 1, 2}, {4}, i64)), 0.5);
  EXPECT_TRUE(std::isnan(accuracy(zeros({0, 3}), zeros({0}, i64))));
  // The row with a NaN is wrong whatever its label is.
  EXPECT_EQ(accuracy(logits, from_values({-1, -1, -1, -1}, {4}, i64)), 0.0);
  EXPECT_THROW(accuracy(logits, zeros({3}, i64)), ShapeError);
  EXPECT_THROW(accuracy(logits, zeros({4})), DTypeError);
}

class AdaptedLinearTest : public DoorTest {};

TEST_F(AdaptedLinearTest, AddsAScaledProductOfItsFactors) {
  Linear layer(from_values({1, 2, 3, 4}, {2, 2}));
  layer.adapt({.rank = 1, .alpha = 3.0});
  EXPECT_TRUE(layer.is_adapted());
  const Tensor x = from_values({1, 1}, {1, 2});
  EXPECT_EQ(layer(x).to_vector(), (memory::Vector<double>{3, 7}));
  {
    const NoGrad guard;
    copy_(layer.parameter("lora_A.weight"), from_values({1, 2}, {1, 2}));
    copy_(layer.parameter("lora_B.weight"), from_values({5, 7}, {2, 1}));
  }
  EXPECT_EQ(layer(x).to_vector(),
            (memory::Vector<double>{3 + 3 * 15, 7 + 3 * 21}));
  EXPECT_EQ(nn::LoraOptions({.rank = 4, .alpha = 6.0}).scale(), 1.5);
  EXPECT_EQ(nn::LoraOptions({.rank = 4, .alpha = 6.0, .by_root = true}).scale(),
            3.0);
}

TEST_F(AdaptedLinearTest, ClonesAndMovesWithItsAdapter) {
  Linear layer(3, 2);
  layer.adapt({.rank = 2});
  {
    const NoGrad guard;
    copy_(layer.parameter("lora_B.weight"), ones({2, 2}));
  }
  const Tensor x = rand({4, 3});
  const auto before = layer(x).to_vector();
  const Linear copy = layer.clone();
  EXPECT_EQ(copy(x).to_vector(), before);
  EXPECT_NE(copy.parameter("lora_A.weight").array(),
            layer.parameter("lora_A.weight").array());
  const Linear moved = std::move(layer);
  EXPECT_EQ(moved(x).to_vector(), before);
  EXPECT_EQ(moved.parameters().size(), 4U);
}

TEST_F(AdaptedLinearTest, DropsOnlyInTraining) {
  Linear layer(50, 2);
  layer.adapt({.rank = 2, .dropout = 0.5});
  {
    const NoGrad guard;
    copy_(layer.parameter("lora_B.weight"), ones({2, 2}));
  }
  const Tensor x = rand({1, 50});
  EXPECT_NE(layer(x).to_vector(), layer(x).to_vector());
  layer.eval();
  EXPECT_EQ(layer(x).to_vector(), layer(x).to_vector());
}

TEST_F(AdaptedLinearTest, RefusesWhatIsNone) {
  Linear layer(3, 2);
  EXPECT_THROW(layer.adapt({.rank = 0}), ValueError);
  EXPECT_THROW(layer.adapt({.dropout = 1.0}), ValueError);
  EXPECT_FALSE(layer.is_adapted());
  EXPECT_EQ(layer.parameters().size(), 2U);
  layer.adapt({});
  EXPECT_THROW(layer.adapt({}), ValueError);
  EXPECT_THROW(Linear(ones({3})), ShapeError);
  EXPECT_THROW(Linear(ones({3, 2}), ones({2})), ShapeError);
  EXPECT_THROW(Linear(ones({3, 2}, i64)), DTypeError);
}

}  // namespace
}  // namespace neap::nn
