// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Encoders of Hugging Face's folders beside what transformers computed with
// them in f64; record_encoders.py wrote both.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "golden.hpp"
#include "neap/autograd/backward.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/models/adapter.hpp"
#include "neap/models/pretrained.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/operators.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

using nlohmann::json;

constexpr std::size_t kCases = 6;

const json& golden() {
  static const json all = testing::read_golden("encoders.json");
  return all;
}

class GoldenEncoderTest : public testing::GoldenTest {
 protected:
  GoldenEncoderTest() : GoldenTest(golden()) {}

  double tolerance() const { return dtype() == f64 ? 1e-8 : 2e-5; }

  Tensor numbers(const char* key, DType type) const {
    Shape shape;
    for (const json& extent : entry()["shape"]) {
      shape.push_back(extent.get<std::int64_t>());
    }
    return from_values(entry()[key].get<std::vector<double>>(), shape, type);
  }
  Tensor output_of(const nn::Layer& model) const {
    if (const auto* bert = dynamic_cast<const Bert*>(&model)) {
      return bert->run({.tokens = numbers("input_ids", i64),
                        .types = numbers("token_type_ids", i64),
                        .mask = ne(numbers("attention_mask", i64), 0)});
    }
    return model(numbers("images", dtype()));
  }
  Tensor loss_of(const nn::Layer& model) const {
    const Tensor y = output_of(model);
    std::vector<double> waves(static_cast<std::size_t>(y.element_count()));
    for (std::size_t i = 0; i < waves.size(); ++i) {
      waves[i] = std::cos(0.7 * static_cast<double>(i));
    }
    return mean(y * from_values(waves, y.shape(), dtype()));
  }
};

TEST_P(GoldenEncoderTest, HasTheOutputsOfTransformers) {
  const auto model = read();
  EXPECT_FALSE(model->is_training());
  const NoGrad guard;
  const auto got = output_of(*model).to_vector();
  const auto wanted = entry()["output"].get<std::vector<double>>();
  ASSERT_EQ(got.size(), wanted.size());
  EXPECT_LE(distance(got, wanted), tolerance());
}

TEST_P(GoldenEncoderTest, HasTheGradientsOfTransformers) {
  for (const bool keep_layers : {true, false}) {
    const auto model = read(keep_layers);
    model->train();
    backward(loss_of(*model));
    const json& wanted = entry()["gradients"];
    const nn::ParameterList parameters = model->parameters();
    EXPECT_EQ(parameters.size(), wanted.size());
    for (const nn::Parameter& parameter : parameters) {
      const std::string name(parameter.name);
      ASSERT_TRUE(wanted.contains(name)) << name;
      testing::expect_summary(wanted[name], parameter.tensor.grad(),
                              {tolerance(), 0.005}, name);
    }
  }
}

TEST_P(GoldenEncoderTest, TrainsByAdamWAsTransformersDo) {
  const auto model = read();
  model->train();
  optim::AdamW optimizer(model->parameters(),
                         {.lr = 3e-3, .weight_decay = 0.1});
  const json recorded = entry();
  for (const json& wanted : recorded["losses"]) {
    optimizer.zero_grad();
    const Tensor loss = loss_of(*model);
    EXPECT_NEAR(loss.item(), wanted.get<double>(), tolerance());
    backward(loss);
    optimizer.step();
  }
  if (dtype() == f32) {
    return;  // gradients that are 0 but for rounding move weights by AdamW
  }
  for (const nn::Parameter& parameter : model->parameters()) {
    const std::string name(parameter.name);
    if (name.ends_with("key.bias")) {
      continue;  // no output depends on it: its gradient is rounding alone
    }
    testing::expect_summary(recorded["trained"][name], parameter.tensor,
                            {1e-6, 0.05}, name);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenEncoderTest,
    ::testing::Combine(::testing::Range(std::size_t{0}, kCases),
                       ::testing::Values(f32, f64)),
    [](const auto& at) { return testing::name_of_case(golden(), at.param); });

TEST(GoldenEncoderCasesTest, AreAllRun) {
  EXPECT_EQ(golden()["cases"].size(), kCases);
}

// --- other heads ------------------------------------------------------------

class EncoderHeadTest : public ::testing::Test {
 protected:
  static std::string folder(const char* name) {
    return std::string(NEAP_MODELS_GOLDEN "/") + name;
  }

  Tensor tokens_ = from_values({1, 5, 9, 2, 30, 4}, {2, 3}, i64);
};

TEST_F(EncoderHeadTest, AClassifierOfOnesOwnIsDrawnUponTheBody) {
  for (const char* name : {"bert_tokens", "bert_first", "bert_body"}) {
    const auto model = from_pretrained(folder(name), {.classes = 4}).value();
    EXPECT_EQ((*model)(tokens_).shape(), Shape({2, 4})) << name;
    const auto drawn = model->parameter("classifier.weight").to_vector();
    EXPECT_GT(*std::ranges::max_element(drawn), 0.0) << name;
    const auto whole = from_pretrained(folder(name)).value();
    EXPECT_EQ(model->parameter("bert.encoder.layer.0.output.dense.weight")
                  .to_vector(),
              whole->parameter("bert.encoder.layer.0.output.dense.weight")
                  .to_vector());
  }
  const auto images = from_pretrained(folder("vit_body"), {.classes = 4});
  EXPECT_EQ((**images)(rand({2, 1, 8, 8})).shape(), Shape({2, 4}));
}

TEST_F(EncoderHeadTest, APoolerOfTheFileIsRead) {
  const auto classes = from_pretrained(folder("bert_body"), {.classes = 4});
  const auto again = from_pretrained(folder("bert_body"), {.classes = 4});
  EXPECT_EQ((*classes)->parameter("bert.pooler.dense.weight").to_vector(),
            (*again)->parameter("bert.pooler.dense.weight").to_vector());
  EXPECT_NE((*classes)->parameter("classifier.weight").to_vector(),
            (*again)->parameter("classifier.weight").to_vector());
}

TEST_F(EncoderHeadTest, WhatPaddingSaysChangesNoToken) {
  const auto model = from_pretrained(folder("bert_body"), {.dtype = f64});
  const auto& bert = dynamic_cast<const Bert&>(**model);
  const NoGrad guard;
  const Tensor short_text = from_values({7, 8, 9}, {1, 3}, i64);
  const Tensor padded = from_values({7, 8, 9, 20, 21}, {1, 5}, i64);
  const Tensor mask = ne(from_values({1, 1, 1, 0, 0}, {1, 5}, i64), 0);
  const auto alone = bert(short_text).to_vector();
  const auto both = bert.run({.tokens = padded, .mask = mask}).to_vector();
  EXPECT_LE(distance(std::span(both).first(alone.size()), alone), 1e-14);
}

TEST_F(EncoderHeadTest, ACloneHasTheSameOutputs) {
  for (const char* name : {"bert_tokens", "bert_classes", "bert_body"}) {
    const auto model = from_pretrained(folder(name)).value();
    const auto copy = nn::clone_layer(*model);
    EXPECT_EQ((*copy)(tokens_).to_vector(), (*model)(tokens_).to_vector());
  }
  const auto vit = from_pretrained(folder("vit")).value();
  const Tensor images = rand({1, 2, 8, 8});
  EXPECT_EQ((*nn::clone_layer(*vit))(images).to_vector(),
            (*vit)(images).to_vector());
}

TEST_F(EncoderHeadTest, AnAdapterAddsToEachLinearLayerButTheHead) {
  const std::pair<const char*, std::int64_t> kLayers[] = {
      {"bert_tokens", 2 * 6 + 1},   // the transform before the scores
      {"bert_classes", 2 * 6 + 1},  // the pooler
      {"bert_body", 2 * 6},
      {"vit", 2 * 6}};
  for (const auto& [name, layers] : kLayers) {
    const auto model = from_pretrained(folder(name)).value();
    EXPECT_EQ(add_adapter(*model, {.lora = {.rank = 2}}), layers) << name;
    EXPECT_EQ(trainable(*model).size(), 2 * layers) << name;
  }
}

TEST_F(EncoderHeadTest, TimmsFolderIsReadAsAResNet) {
  const files::TemporaryFolder files;
  Generator generator(3);
  const UseGenerator use(generator);
  ResNet net({.classes = 6, .stem = ResNetStem::kLarge});
  ASSERT_TRUE(train::save(net, files.at("model.safetensors")).has_value());
  files.put("config.json", R"({"architecture": "resnet18", "num_classes": 6})");
  const auto model = from_pretrained(files.path()).value();
  net.eval();
  const Tensor images = rand({1, 3, 40, 32});
  EXPECT_EQ((*model)(images).to_vector(), net(images).to_vector());
  const auto other = from_pretrained(files.path(), {.classes = 2}).value();
  EXPECT_EQ((*other)(images).shape(), Shape({1, 2}));
}

TEST_F(EncoderHeadTest, ClassesThatCannotBeAreRefused) {
  for (const char* name : {"gpt2", "llama"}) {
    const auto model = from_pretrained(folder(name), {.classes = 3});
    ASSERT_FALSE(model.has_value()) << name;
    EXPECT_EQ(model.error().kind, FailureKind::kUnsupported);
  }
  for (const char* name : {"bert_tokens", "vit"}) {
    EXPECT_FALSE(from_pretrained(folder(name), {.classes = -1}).has_value());
  }
  const BertBody body({.vocab = 9, .layers = 1, .heads = 1, .dim = 4});
  EXPECT_THROW(body.pool(zeros({1, 2, 4})), ValueError);
}

TEST_F(EncoderHeadTest, APaddedTextAloneIsNoError) {
  const auto model = from_pretrained(folder("bert_tokens"));
  const auto& bert = dynamic_cast<const Bert&>(**model);
  const Tensor mask = ne(from_values({1, 1, 1, 0, 0, 0}, {2, 3}, i64), 0);
  backward(mean(bert.run({.tokens = tokens_, .mask = mask})));
  for (const nn::Parameter& parameter : bert.parameters()) {
    for (const double value : parameter.tensor.grad().to_vector()) {
      ASSERT_TRUE(std::isfinite(value)) << parameter.name;
    }
  }
  EXPECT_EQ(bert(zeros({0, 3}, i64)).shape(), Shape({0, 3, 37}));
}

TEST_F(EncoderHeadTest, InputsThatDoNotGoTogetherAreRefused) {
  const auto model = from_pretrained(folder("bert_tokens"));
  const auto& bert = dynamic_cast<const Bert&>(**model);
  const Tensor mask = ne(from_values({1, 1}, {1, 2}, i64), 0);
  EXPECT_THROW(bert.run({.tokens = tokens_, .mask = mask}), ShapeError);
  EXPECT_THROW(bert.run({.tokens = tokens_, .types = mask}), ShapeError);
  EXPECT_THROW(bert.run({.tokens = tokens_, .mask = tokens_}), DTypeError);
  EXPECT_THROW(bert.run({.tokens = tokens_, .types = tokens_}), ValueError);
  EXPECT_THROW(bert(zeros({1, 17}, i64)), ShapeError);
  EXPECT_THROW(bert(from_values({37}, {1, 1}, i64)), ValueError);
  const auto vit = from_pretrained(folder("vit"));
  EXPECT_THROW((**vit)(zeros({1, 2, 8, 4})), ShapeError);
  EXPECT_THROW((**vit)(zeros({1, 3, 8, 8})), ShapeError);
}

}  // namespace
}  // namespace neap::models
