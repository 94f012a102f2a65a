// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/llama.hpp"

#include <gtest/gtest.h>

#include "neap/models/training_test.hpp"
#include "neap/nn/init.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

LlamaOptions tiny(DType dtype = f32) {
  return {.vocab = 13,
          .block = 8,
          .layers = 2,
          .heads = 4,
          .kv_heads = 2,
          .dim = 16,
          .hidden = 20,
          .dtype = dtype};
}

class LlamaTest : public ::testing::Test {
 protected:
  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};
  Tensor tokens_ = randint(0, 13, {3, 8});
  Tensor targets_ = randint(0, 13, {3, 8});

  auto loss_of() {
    return [this](Llama& model) { return model.loss(tokens_, targets_); };
  }
};

TEST_F(LlamaTest, HasTheNamesOfHuggingFace) {
  LlamaOptions options = tiny();
  options.layers = 1;
  options.qkv_bias = true;
  const Llama model(options);
  const std::string layer = "model.layers.0.";
  EXPECT_EQ(
      testing::names_of(model.named_parameters()),
      (std::vector<std::string>{
          "model.embed_tokens.weight", layer + "self_attn.q_proj.weight",
          layer + "self_attn.q_proj.bias", layer + "self_attn.k_proj.weight",
          layer + "self_attn.k_proj.bias", layer + "self_attn.v_proj.weight",
          layer + "self_attn.v_proj.bias", layer + "self_attn.o_proj.weight",
          layer + "mlp.gate_proj.weight", layer + "mlp.up_proj.weight",
          layer + "mlp.down_proj.weight", layer + "input_layernorm.weight",
          layer + "post_attention_layernorm.weight", "model.norm.weight",
          "lm_head.weight"}));
  EXPECT_TRUE(model.buffers().empty());
}

TEST_F(LlamaTest, TiesHeadAndEmbeddingWhereTold) {
  LlamaOptions options = tiny();
  options.tie = true;
  const Llama tied(options);
  EXPECT_EQ(tied.parameter("lm_head.weight").array(),
            tied.parameter("model.embed_tokens.weight").array());
  EXPECT_EQ(Llama(tiny()).parameter_count() - tied.parameter_count(), 13 * 16);
}

TEST_F(LlamaTest, BeginsWithTheLossOfAGuessAndLearnsItsBatch) {
  Llama model(tiny());
  EXPECT_NEAR(model.loss(tokens_, targets_).item(), std::log(13.0), 0.05);
  optim::AdamW optimizer(model.parameters(), {.lr = 1e-2});
  testing::train_for(model, optimizer, 60, loss_of());
  EXPECT_LT(model.loss(tokens_, targets_).item(), 0.5);
}

TEST_F(LlamaTest, HasTheGradientsOfItsLoss) {
  LlamaOptions options = tiny(f64);
  options.layers = 1;
  options.qkv_bias = options.out_bias = options.mlp_bias = true;
  options.window = 3;
  options.rope = {
      .scaling = RotaryScaling::kLinear, .factor = 2.0, .stretch = 1.1};
  Llama model(options);
  {
    const NoGrad guard;  // small ones are steep for differences, under a norm
    nn::normal_(model.parameter("model.embed_tokens.weight"));
  }
  testing::expect_true_gradients(model,
                                 [&] { return model.loss(tokens_, targets_); });
}

// The last score where the token at `place` is another one.
TEST_F(LlamaTest, SeesAWindowAndNothingThatComesLater) {
  LlamaOptions options = tiny();
  options.layers = 1;
  options.window = 3;
  const Llama model(options);
  const auto scores = [&](std::size_t place, double token) {
    std::vector<double> tokens{1, 2, 3, 4, 5, 6};
    tokens[place] = token;
    return model(from_values(tokens, {1, 6}, i64)).to_vector();
  };
  const auto rows_that_differ = [&](std::size_t place) {
    const auto one = scores(place, 7);
    const auto other = scores(place, 8);
    std::string rows;
    for (std::size_t row = 0; row < 6; ++row) {
      const auto begin = static_cast<std::ptrdiff_t>(row * 13);
      rows += std::equal(one.begin() + begin, one.begin() + begin + 13,
                         other.begin() + begin)
                  ? '.'
                  : 'x';
    }
    return rows;
  };
  EXPECT_EQ(rows_that_differ(0), "xxx...");
  EXPECT_EQ(rows_that_differ(2), "..xxx.");
  EXPECT_EQ(rows_that_differ(5), ".....x");
}

TEST_F(LlamaTest, KeepsLessWithTheSameBits) {
  const auto train = [&](bool keep_layers) {
    Generator generator(7);
    const UseGenerator use(generator);
    LlamaOptions options = tiny();
    options.layers = 5;
    options.dropout = 0.1;
    options.keep_layers = keep_layers;
    Llama model(options);
    optim::AdamW optimizer(model.parameters());
    domain_->reset_peak();
    testing::train_for(model, optimizer, 2, loss_of());
    return std::pair(testing::values_of(model), domain_->stats().live_peak);
  };
  const auto kept = train(true);
  const auto again = train(false);
  EXPECT_EQ(again.first, kept.first);
  EXPECT_LT(again.second, kept.second);
}

TEST_F(LlamaTest, HasTheSameBitsForAnyNumberOfThreads) {
  const Tensor tokens = randint(0, 300, {4, 32});
  const Tensor targets = randint(0, 300, {4, 32});
  testing::expect_same_bits(
      [] {
        return Llama({.vocab = 300,
                      .block = 32,
                      .layers = 2,
                      .heads = 6,
                      .kv_heads = 2,
                      .dim = 96,
                      .hidden = 128,
                      .window = 9,
                      .dropout = 0.1});
      },
      [&](Llama& model) { return model.loss(tokens, targets); });
}

TEST_F(LlamaTest, ClonesWithTiesAndValues) {
  LlamaOptions options = tiny();
  options.tie = true;
  options.window = 2;
  options.rope.trained = 4;
  options.rope.factor = 2.0;
  Llama model(options);
  Llama copy = model.clone();
  EXPECT_EQ(testing::values_of(copy), testing::values_of(model));
  EXPECT_EQ(copy(tokens_).to_vector(), model(tokens_).to_vector());
  EXPECT_EQ(copy.parameter("lm_head.weight").array(),
            copy.parameter("model.embed_tokens.weight").array());
}

TEST_F(LlamaTest, IsFlatInTrainingAndLeavesNothing) {
  {
    LlamaOptions options = tiny();
    options.window = 3;
    Llama model(options);
    testing::expect_flat(*domain_, model, loss_of());
  }
  tokens_ = targets_ = Tensor();
  EXPECT_EQ(domain_->stats().live, 0);
}

// Whether a model of options that are changed is refused by such an error.
template <class Refusal, class Change>
bool is_refused(LlamaOptions options, const Change& change) {
  change(options);
  try {
    const Llama model(options);
  } catch (const Refusal&) {
    return true;
  }
  return false;
}

TEST_F(LlamaTest, RefusesOptionsThatCannotBe) {
  const auto refused = [](auto change) {
    return is_refused<ValueError>(tiny(), change);
  };
  EXPECT_TRUE(refused([](LlamaOptions& o) { o.kv_heads = 3; }));
  EXPECT_TRUE(refused([](LlamaOptions& o) { o.layers = 0; }));
  EXPECT_TRUE(refused([](LlamaOptions& o) { o.head_dim = 3; }));
  EXPECT_TRUE(refused([](LlamaOptions& o) { o.dropout = 1; }));
  EXPECT_TRUE(refused([](LlamaOptions& o) { o.rope.stretch = 0; }));
  EXPECT_TRUE(refused([](LlamaOptions& o) { o.window = -1; }));
  EXPECT_TRUE(
      is_refused<DTypeError>(tiny(), [](LlamaOptions& o) { o.dtype = bf16; }));
}

TEST_F(LlamaTest, RefusesTokensThatDoNotFit) {
  Llama model(tiny());
  EXPECT_THROW(model(zeros({1, 9}, i64)), ShapeError);
  EXPECT_THROW(model(zeros({6}, i64)), ShapeError);
  EXPECT_THROW(model(full({1, 2}, 13, i64)), ValueError);
}

}  // namespace
}  // namespace neap::models
