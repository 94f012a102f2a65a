// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/gpt.hpp"

#include <gtest/gtest.h>

#include <optional>

#include "neap/memory/out_of_memory.hpp"
#include "neap/models/training_test.hpp"
#include "neap/nn/init.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

constexpr GptOptions kTiny{
    .vocab = 13, .block = 6, .layers = 2, .heads = 2, .dim = 8};

GptOptions tiny(double dropout, DType dtype = f32) {
  GptOptions options = kTiny;
  options.dropout = dropout;
  options.dtype = dtype;
  return options;
}

class GptTest : public ::testing::Test {
 protected:
  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};
  Tensor tokens_ = randint(0, kTiny.vocab, {3, 6});
  Tensor targets_ = randint(0, kTiny.vocab, {3, 6});

  auto loss_of() {
    return [this](Gpt& model) { return model.loss(tokens_, targets_); };
  }
};

TEST_F(GptTest, HasTheNamesOfGpt2) {
  GptOptions options = kTiny;
  options.layers = 1;
  const Gpt model(options);
  EXPECT_EQ(
      testing::names_of(model.named_parameters()),
      (std::vector<std::string>{
          "wte.weight", "wpe.weight", "h.0.ln_1.weight", "h.0.ln_1.bias",
          "h.0.attn.c_attn.weight", "h.0.attn.c_attn.bias",
          "h.0.attn.c_proj.weight", "h.0.attn.c_proj.bias", "h.0.ln_2.weight",
          "h.0.ln_2.bias", "h.0.mlp.c_fc.weight", "h.0.mlp.c_fc.bias",
          "h.0.mlp.c_proj.weight", "h.0.mlp.c_proj.bias", "ln_f.weight",
          "ln_f.bias", "lm_head.weight"}));
  EXPECT_TRUE(model.buffers().empty());
}

// wte and wpe; 12 c^2 + 13 c a block; the last norm.
TEST_F(GptTest, HasAsManyParametersAsTheFormulaSays) {
  const std::int64_t c = kTiny.dim;
  const std::int64_t blocks = kTiny.layers * (12 * c * c + 13 * c);
  const std::int64_t tied = (kTiny.vocab + kTiny.block) * c + blocks + 2 * c;
  EXPECT_EQ(Gpt(kTiny).parameter_count(), tied);
  GptOptions options = kTiny;
  options.tie = false;
  EXPECT_EQ(Gpt(options).parameter_count(), tied + kTiny.vocab * c);
  options.bias = false;
  EXPECT_EQ(Gpt(options).parameter_count(),
            tied + kTiny.vocab * c - kTiny.layers * 11 * c - c);
}

TEST_F(GptTest, TiesHeadAndEmbeddingAsOneParameterWithTwoNames) {
  Gpt model(kTiny);
  EXPECT_EQ(model.parameters().front().aliases,
            (memory::Vector<memory::String>{"lm_head.weight"}));
  const Tensor home = model.parameter("wte.weight");
  EXPECT_EQ(model.parameter("lm_head.weight").array(), home.array());
  model.zero_grad();
  backward(model.loss(tokens_, targets_));
  EXPECT_EQ(model.parameter("lm_head.weight").grad().array(),
            home.grad().array());
}

TEST_F(GptTest, ReturnsAScoreForEveryTokenAfterEach) {
  Gpt model(kTiny);
  EXPECT_EQ(model(tokens_).shape(), Shape({3, 6, kTiny.vocab}));
  EXPECT_EQ(model(zeros({2, 4}, i64)).shape(), Shape({2, 4, kTiny.vocab}));
  EXPECT_EQ(model(zeros({2, 1}, i32)).shape(), Shape({2, 1, kTiny.vocab}));
}

TEST_F(GptTest, SeesNoTokenThatComesLater) {
  Gpt model(kTiny);
  const auto scores_before_the_last = [&](double last) {
    const Tensor tokens = from_values({1, 2, 3, last}, {1, 4}, i64);
    memory::Vector<double> scores = model(tokens).to_vector();
    scores.resize(3 * static_cast<std::size_t>(kTiny.vocab));
    return scores;
  };
  EXPECT_EQ(scores_before_the_last(4), scores_before_the_last(5));
}

double deviation_of(const Tensor& x) {
  double squares = 0;
  for (const double value : x.to_vector()) {
    squares += value * value;
  }
  return std::sqrt(squares / static_cast<double>(x.element_count()));
}

TEST_F(GptTest, BeginsAsGpt2Does) {
  const Gpt model(
      {.vocab = 300, .block = 64, .layers = 8, .heads = 2, .dim = 64});
  const auto deviation = [&](const char* name) {
    return deviation_of(model.parameter(name));
  };
  EXPECT_NEAR(deviation("wte.weight"), 0.02, 0.001);
  EXPECT_NEAR(deviation("wpe.weight"), 0.02, 0.001);
  EXPECT_NEAR(deviation("h.3.attn.c_attn.weight"), 0.02, 0.001);
  EXPECT_NEAR(deviation("h.7.attn.c_proj.weight"), 0.005, 0.0003);
  EXPECT_NEAR(deviation("h.7.mlp.c_proj.weight"), 0.005, 0.0003);
  EXPECT_EQ(deviation("h.0.mlp.c_fc.bias"), 0.0);
  EXPECT_EQ(deviation("h.0.ln_1.weight"), 1.0);
}

TEST_F(GptTest, BeginsWithTheLossOfAGuess) {
  Gpt model(kTiny);
  EXPECT_NEAR(model.loss(tokens_, targets_).item(), std::log(13.0), 0.05);
}

TEST_F(GptTest, HasTheGradientsOfItsLoss) {
  GptOptions options = tiny(0.0, f64);
  options.layers = 1;
  Gpt model(options);
  testing::expect_true_gradients(model,
                                 [&] { return model.loss(tokens_, targets_); });
}

GptOptions as_llama(DType dtype) {
  GptOptions options = tiny(0.0, dtype);
  options.layers = 1;
  options.positions = GptPositions::kRotary;
  options.mlp = GptFeedForward::kSwiglu;
  options.norm = GptNormalise::kRmsNorm;
  return options;
}

TEST_F(GptTest, TurnsGatesAndNormalisesWhereTold) {
  Gpt model(as_llama(f64));
  EXPECT_EQ(testing::names_of(model.named_parameters()),
            (std::vector<std::string>{
                "wte.weight", "h.0.ln_1.weight", "h.0.attn.c_attn.weight",
                "h.0.attn.c_attn.bias", "h.0.attn.c_proj.weight",
                "h.0.attn.c_proj.bias", "h.0.ln_2.weight", "h.0.mlp.w1.weight",
                "h.0.mlp.w1.bias", "h.0.mlp.w2.weight", "h.0.mlp.w2.bias",
                "h.0.mlp.w3.weight", "h.0.mlp.w3.bias", "ln_f.weight",
                "lm_head.weight"}));
  {
    const NoGrad guard;  // small ones are steep for differences, under a norm
    nn::normal_(model.parameter("wte.weight"));
  }
  testing::expect_true_gradients(model,
                                 [&] { return model.loss(tokens_, targets_); });
  Gpt copy = model.clone();
  EXPECT_EQ(copy(tokens_).to_vector(), model(tokens_).to_vector());
}

// To one layer without positions, what came before the last is a set.
TEST_F(GptTest, KnowsPlacesByTurning) {
  Gpt model(as_llama(f64));
  const auto last_score = [&](std::initializer_list<double> tokens) {
    return model(from_values(tokens, {1, 3}, i64)).to_vector().back();
  };
  EXPECT_GT(std::abs(last_score({1, 2, 3}) - last_score({2, 1, 3})), 1e-9);
}

TEST_F(GptTest, LearnsItsBatch) {
  Gpt model(kTiny);
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-2});
  testing::train_for(model, optimizer, 60, loss_of());
  EXPECT_LT(model.loss(tokens_, targets_).item(), 0.5);
}

TEST_F(GptTest, DropsInTrainingOnly) {
  Gpt model(tiny(0.3));
  model.eval();
  EXPECT_EQ(model(tokens_).to_vector(), model(tokens_).to_vector());
  model.train();
  EXPECT_NE(model(tokens_).to_vector(), model(tokens_).to_vector());
}

TEST_F(GptTest, HasTheSameBitsForAnyNumberOfThreads) {
  const Tensor tokens = randint(0, 300, {4, 32});
  const Tensor targets = randint(0, 300, {4, 32});
  testing::expect_same_bits(
      [] {
        return Gpt({.vocab = 300,
                    .block = 32,
                    .layers = 2,
                    .heads = 4,
                    .dim = 96,
                    .dropout = 0.1});
      },
      [&](Gpt& model) { return model.loss(tokens, targets); });
}

TEST_F(GptTest, NeedsNoModelForTheBackwardUnlessBlocksRunAgain) {
  const auto gradients = [&](bool is_gone) {
    Generator generator(7);
    const UseGenerator use(generator);
    std::optional<Gpt> model(kTiny);
    const nn::ParameterList parameters = model->parameters();
    const Tensor loss = model->loss(tokens_, targets_);
    if (is_gone) {
      model.reset();
    }
    backward(loss);
    std::vector<double> all;
    for (const nn::Parameter& parameter : parameters) {
      const auto values = parameter.tensor.grad().to_vector();
      all.insert(all.end(), values.begin(), values.end());
    }
    return all;
  };
  EXPECT_EQ(gradients(true), gradients(false));
}

class GptNormTest : public GptTest,
                    public ::testing::WithParamInterface<GptNormalise> {};
INSTANTIATE_TEST_SUITE_P(Both, GptNormTest,
                         ::testing::Values(GptNormalise::kLayerNorm,
                                           GptNormalise::kRmsNorm));

TEST_P(GptNormTest, KeepsLessWithTheSameBits) {
  struct Training {
    std::vector<double> values;
    Bytes peak;
  };
  const Tensor tokens = randint(0, 13, {4, 32});
  const auto train = [&](GptKeep keep) -> Training {
    Generator generator(7);
    const UseGenerator use(generator);
    Gpt model({.vocab = 13,
               .block = 32,
               .layers = 6,
               .heads = 2,
               .dim = 16,
               .dropout = 0.1,
               .norm = GetParam(),
               .keep = keep});
    optim::AdamW optimizer(model.parameters());
    domain_->reset_peak();
    testing::train_for(model, optimizer, 2,
                       [&](Gpt& m) { return m.loss(tokens, tokens); });
    return {testing::values_of(model), domain_->stats().live_peak};
  };
  const Training all = train(GptKeep::kEverything);
  const Training products = train(GptKeep::kProducts);
  const Training nothing = train(GptKeep::kNothing);
  EXPECT_EQ(products.values, all.values);
  EXPECT_EQ(nothing.values, all.values);
  EXPECT_LT(products.peak, all.peak);
  EXPECT_LT(nothing.peak, all.peak / 3 * 2);
}

TEST_F(GptTest, ClonesWithTiesAndValues) {
  Gpt model(kTiny);
  Gpt copy = model.clone();
  EXPECT_EQ(testing::values_of(copy), testing::values_of(model));
  EXPECT_EQ(copy(tokens_).to_vector(), model(tokens_).to_vector());
  EXPECT_EQ(copy.parameter("lm_head.weight").array(),
            copy.parameter("wte.weight").array());
  EXPECT_NE(copy.parameter("wte.weight").array(),
            model.parameter("wte.weight").array());
  optim::AdamW optimizer(copy.parameters());
  testing::train_for(copy, optimizer, 1, loss_of());
  EXPECT_NE(testing::values_of(copy), testing::values_of(model));
}

TEST_F(GptTest, IsFlatInTrainingAndLeavesNothing) {
  {
    Gpt model(tiny(0.1));
    testing::expect_flat(*domain_, model, loss_of());
  }
  tokens_ = targets_ = Tensor();
  EXPECT_EQ(domain_->stats().live, 0);
}

TEST_F(GptTest, RefusesSizesThatCannotBe) {
  const auto made = [](auto change) {
    GptOptions options = kTiny;
    change(options);
    const Gpt model(options);
  };
  EXPECT_THROW(made([](GptOptions& o) { o.heads = 3; }), ValueError);
  EXPECT_THROW(made([](GptOptions& o) { o.layers = 0; }), ValueError);
  EXPECT_THROW(made([](GptOptions& o) { o.dropout = 1; }), ValueError);
  EXPECT_THROW(made([](GptOptions& o) {
                 o.positions = GptPositions::kRotary;
                 o.heads = 8;
               }),
               ValueError);
  EXPECT_THROW(made([](GptOptions& o) { o.dtype = i64; }), DTypeError);
}

TEST_F(GptTest, RefusesTokensThatDoNotFit) {
  Gpt model(kTiny);
  EXPECT_THROW(model(zeros({1, 7}, i64)), ShapeError);
  EXPECT_THROW(model(zeros({6}, i64)), ShapeError);
  EXPECT_THROW(model(full({1, 2}, 13, i64)), ValueError);
  EXPECT_THROW(model.loss(tokens_, zeros({3, 5}, i64)), ShapeError);
}

}  // namespace
}  // namespace neap::models
