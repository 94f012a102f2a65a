// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/lstm.hpp"

#include <gtest/gtest.h>

#include "neap/models/training_test.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

constexpr LstmOptions kTiny{
    .features = 3, .hidden = 5, .layers = 2, .outputs = 2};

class LstmTest : public ::testing::Test {
 protected:
  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};

  static auto loss_of(const Tensor& x) {
    return [x](Lstm& model) { return mean(square(model(x))); };
  }
};

TEST_F(LstmTest, HasPyTorchsNames) {
  LstmOptions options = kTiny;
  options.layers = 1;
  const Lstm model(options);
  EXPECT_EQ(testing::names_of(model.parameters()),
            (std::vector<std::string>{"lstm.weight_ih_l0", "lstm.weight_hh_l0",
                                      "lstm.bias_ih_l0", "lstm.bias_hh_l0",
                                      "fc.weight", "fc.bias"}));
}

TEST_F(LstmTest, HasAsManyParametersAsTheFormulaSays) {
  const std::int64_t first = 4 * 5 * (3 + 5 + 2);
  const std::int64_t second = 4 * 5 * (5 + 5 + 2);
  EXPECT_EQ(Lstm(kTiny).parameter_count(), first + second + 5 * 2 + 2);
}

TEST_F(LstmTest, ReturnsOneRowASequence) {
  Lstm model(kTiny);
  EXPECT_EQ(model(zeros({4, 7, 3})).shape(), Shape({4, 2}));
  EXPECT_EQ(model(zeros({4, 1, 3})).shape(), Shape({4, 2}));
}

TEST_F(LstmTest, HasTheGradientsOfItsLoss) {
  LstmOptions options = kTiny;
  options.dtype = f64;
  Lstm model(options);
  const Tensor x = rand({2, 4, 3}, f64);
  testing::expect_true_gradients(model, [&] { return mean(square(model(x))); });
}

TEST_F(LstmTest, DropsBetweenLayersInTrainingOnly) {
  LstmOptions options = kTiny;
  options.dropout = 0.5;
  Lstm model(options);
  const Tensor x = rand({2, 4, 3});
  model.eval();
  EXPECT_EQ(model(x).to_vector(), model(x).to_vector());
  model.train();
  EXPECT_NE(model(x).to_vector(), model(x).to_vector());
}

TEST_F(LstmTest, HasTheSameBitsForAnyNumberOfThreads) {
  const Tensor x = rand({16, 9, 40});
  testing::expect_same_bits(
      [] {
        return Lstm({.features = 40,
                     .hidden = 96,
                     .layers = 2,
                     .outputs = 3,
                     .dropout = 0.2});
      },
      loss_of(x));
}

TEST_F(LstmTest, ClonesItsValues) {
  Lstm model(kTiny);
  Lstm copy = model.clone();
  EXPECT_EQ(testing::values_of(copy), testing::values_of(model));
  const Tensor x = rand({2, 4, 3});
  EXPECT_EQ(copy(x).to_vector(), model(x).to_vector());
  optim::AdamW optimizer(copy.parameters());
  testing::train_for(copy, optimizer, 1, loss_of(x));
  EXPECT_NE(testing::values_of(copy), testing::values_of(model));
}

TEST_F(LstmTest, IsFlatInTrainingAndLeavesNothing) {
  {
    Lstm model(kTiny);
    testing::expect_flat(*domain_, model, loss_of(rand({2, 8, 3})));
  }
  EXPECT_EQ(domain_->stats().live, 0);
}

TEST_F(LstmTest, RefusesSizesThatCannotBe) {
  EXPECT_THROW(Lstm({.features = 0, .hidden = 2}), ValueError);
  EXPECT_THROW(Lstm({.hidden = 2, .layers = 0}), ValueError);
  EXPECT_THROW(Lstm({.hidden = 2, .dropout = -0.1}), ValueError);
  EXPECT_THROW(Lstm({.hidden = 2, .dtype = bf16}), DTypeError);
}

TEST_F(LstmTest, RefusesSequencesThatDoNotFit) {
  Lstm model(kTiny);
  EXPECT_THROW(model(zeros({2, 3})), ShapeError);
  EXPECT_THROW(model(zeros({2, 4, 2})), ShapeError);
  EXPECT_THROW(model(zeros({2, 0, 3})), ShapeError);
}

}  // namespace
}  // namespace neap::models
