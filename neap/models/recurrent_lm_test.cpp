// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/recurrent_lm.hpp"

#include <gtest/gtest.h>

#include "neap/models/training_test.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::models {
namespace {

constexpr RecurrentLmOptions kTiny{
    .vocab = 11, .dim = 6, .hidden = 6, .layers = 2};

template <class Lm>
class RecurrentLmTest : public ::testing::Test {
 protected:
  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};
  Tensor tokens_ = randint(0, 11, {3, 8});
  Tensor targets_ = randint(0, 11, {3, 8});

  auto loss() const {
    return [x = tokens_, y = targets_](Lm& model) { return model.loss(x, y); };
  }
};

using Kinds = ::testing::Types<LstmLm, GruLm>;
TYPED_TEST_SUITE(RecurrentLmTest, Kinds);

TYPED_TEST(RecurrentLmTest, HasPyTorchsNames) {
  RecurrentLmOptions options = kTiny;
  options.layers = 1;
  EXPECT_EQ(testing::names_of(TypeParam(options).parameters()),
            (std::vector<std::string>{"encoder.weight", "rnn.weight_ih_l0",
                                      "rnn.weight_hh_l0", "rnn.bias_ih_l0",
                                      "rnn.bias_hh_l0", "decoder.weight",
                                      "decoder.bias"}));
}

TYPED_TEST(RecurrentLmTest, SharesItsEmbeddingsIfTied) {
  RecurrentLmOptions options = kTiny;
  const std::int64_t before = TypeParam(options).parameter_count();
  options.tie = true;
  TypeParam model(options);
  EXPECT_EQ(model.parameter_count(), before - 11 * 6);
  EXPECT_EQ(model.parameter("decoder.weight").link(),
            model.parameter("encoder.weight").link());
  const TypeParam copy = model.clone();
  EXPECT_EQ(copy.parameter_count(), model.parameter_count());
}

TYPED_TEST(RecurrentLmTest, ScoresEveryPosition) {
  TypeParam model(kTiny);
  EXPECT_EQ(model(this->tokens_).shape(), Shape({3, 8, 11}));
  EXPECT_EQ(model(narrow(this->tokens_, 1, 0, 1)).shape(), Shape({3, 1, 11}));
}

TYPED_TEST(RecurrentLmTest, GoesOnFromAState) {
  TypeParam model(kTiny);
  const Tensor whole = model(this->tokens_);
  auto [scores, state] = model.run(narrow(this->tokens_, 1, 0, 5), {});
  EXPECT_EQ(scores.to_vector(), narrow(whole, 1, 0, 5).to_vector());
  const auto rest = model.run(narrow(this->tokens_, 1, 5, 3), state);
  EXPECT_EQ(rest.scores.to_vector(), narrow(whole, 1, 5, 3).to_vector());
}

TYPED_TEST(RecurrentLmTest, TrainsOnPiecesOfALongSequence) {
  TypeParam model(kTiny);
  typename TypeParam::State state;
  for (int piece = 0; piece < 2; ++piece) {
    auto part = [&](const Tensor& x) { return narrow(x, 1, 4 * piece, 4); };
    auto [loss, next] =
        model.loss_from(part(this->tokens_), part(this->targets_), state);
    backward(loss);
    state = detached(next);
  }
  for (const nn::Parameter& parameter : model.parameters()) {
    EXPECT_TRUE(parameter.tensor.grad().defined());
  }
}

TYPED_TEST(RecurrentLmTest, HasTheGradientsOfItsLoss) {
  RecurrentLmOptions options = kTiny;
  options.dtype = f64;
  TypeParam model(options);
  testing::expect_true_gradients(
      model, [&] { return model.loss(this->tokens_, this->targets_); });
}

TYPED_TEST(RecurrentLmTest, HasTheSameBitsForAnyNumberOfThreads) {
  const Tensor tokens = randint(0, 50, {16, 9});
  const Tensor targets = randint(0, 50, {16, 9});
  testing::expect_same_bits(
      [] {
        return TypeParam({.vocab = 50,
                          .dim = 40,
                          .hidden = 96,
                          .layers = 2,
                          .dropout = 0.2});
      },
      [&](TypeParam& model) { return model.loss(tokens, targets); });
}

TYPED_TEST(RecurrentLmTest, IsFlatInTrainingAndLeavesNothing) {
  {
    TypeParam model(kTiny);
    testing::expect_flat(*this->domain_, model, this->loss());
  }
}

TYPED_TEST(RecurrentLmTest, LearnsAPeriod) {
  TypeParam model({.vocab = 4, .dim = 8, .hidden = 16});
  const Tensor tokens = from_values(
      std::vector<double>{0, 1, 2, 0, 1, 3, 0, 1, 2, 0, 1, 3}, {1, 12}, i64);
  const Tensor targets = from_values(
      std::vector<double>{1, 2, 0, 1, 3, 0, 1, 2, 0, 1, 3, 0}, {1, 12}, i64);
  optim::AdamW optimizer(model.parameters(), {.lr = 0.02});
  testing::train_for(model, optimizer, 150,
                     [&](TypeParam& m) { return m.loss(tokens, targets); });
  // All but the first, which has seen too little.
  EXPECT_LT(model.loss(tokens, targets).item(), 0.12);
}

TYPED_TEST(RecurrentLmTest, RefusesWhatCannotBe) {
  EXPECT_THROW(TypeParam({.vocab = 0}), ValueError);
  EXPECT_THROW(TypeParam({.dim = 4, .hidden = 6, .tie = true}), ValueError);
  EXPECT_THROW(TypeParam({.dropout = 1.0}), ValueError);
  TypeParam model(kTiny);
  EXPECT_THROW(model(zeros({8}, i64)), ShapeError);
  EXPECT_THROW(model(full({1, 2}, 11.0, i64)), ValueError);
  EXPECT_THROW(model.loss(this->tokens_, zeros({3, 7}, i64)), ShapeError);
}

}  // namespace
}  // namespace neap::models
