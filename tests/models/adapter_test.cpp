// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Adapters in the files of peft, beside what peft computed with them in f64;
// record_adapter.py wrote both.
#include "neap/models/adapter.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "distance.hpp"
#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/files/temporary_folder.hpp"
#include "neap/models/pretrained.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr const char* kNames[] = {"llama", "gpt2"};

json golden(const char* file) {
  return json::parse(std::ifstream(std::string(NEAP_MODELS_GOLDEN "/") + file));
}

json case_of(const char* file, const std::string& name) {
  const json all = golden(file);
  for (const json& one : all["cases"]) {
    if (one["name"] == name) {
      return one;
    }
  }
  return {};
}

std::vector<double> values_of(const nn::ParameterList& parameters) {
  std::vector<double> all;
  for (const nn::Parameter& parameter : parameters) {
    const auto some = parameter.tensor.to_vector();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

class AdapterTest : public ::testing::TestWithParam<const char*> {
 protected:
  std::string base() const {
    return std::string(NEAP_MODELS_GOLDEN "/") + GetParam();
  }
  std::string adapter() const { return base() + "_lora"; }
  json entry() const { return case_of("adapters.json", GetParam()); }
  Tensor numbers(const char* key) const {
    return from_values(
        case_of("cases.json", GetParam())[key].get<std::vector<double>>(),
        {2, 9}, i64);
  }
  memory::Owned<nn::Layer> read(DType dtype) const {
    return from_pretrained(base(), {.dtype = dtype}).value();
  }
  Tensor loss_of(const nn::Layer& model) const {
    return cross_entropy(reshape(model(numbers("tokens")), {-1, 37}),
                         reshape(numbers("targets"), {-1}));
  }
  void expect_logits(const nn::Layer& model, double tolerance) const {
    const NoGrad guard;
    const auto got = model(numbers("tokens")).to_vector();
    const auto wanted = entry()["logits"].get<std::vector<double>>();
    ASSERT_EQ(got.size(), wanted.size());
    EXPECT_LE(distance(got, wanted), tolerance);
  }
  // A small change of a text of the adapter's config, in a folder of its own.
  std::string changed(const std::string& what, const std::string& into) const {
    std::ifstream from(adapter() + "/adapter_config.json");
    std::string text{std::istreambuf_iterator<char>(from), {}};
    const std::size_t at = text.find(what);
    EXPECT_NE(at, std::string::npos) << what;
    folder_.put("adapter_config.json", text.replace(at, what.size(), into));
    std::ifstream weights(adapter() + "/adapter_model.safetensors",
                          std::ios::binary);
    folder_.put("adapter_model.safetensors",
                std::string{std::istreambuf_iterator<char>(weights), {}});
    return folder_.path();
  }

  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};
  files::TemporaryFolder folder_;
};

TEST_P(AdapterTest, HasTheLogitsOfPeft) {
  for (const DType dtype : {f32, f64}) {
    const auto model = read(dtype);
    ASSERT_TRUE(load_adapter(*model, adapter()).has_value());
    expect_logits(*model, dtype == f64 ? 1e-6 : 1e-5);
  }
}

TEST_P(AdapterTest, IsMergedIntoTheWeights) {
  for (const DType dtype : {f32, f64}) {
    const auto model = read(dtype);
    const auto count = model->parameter_count();
    const auto merged = merge_adapter(*model, adapter());
    ASSERT_TRUE(merged.has_value()) << merged.error().message;
    EXPECT_EQ(model->parameter_count(), count);
    expect_logits(*model, dtype == f64 ? 1e-6 : 1e-5);
  }
}

TEST_P(AdapterTest, HasItsGradientsAloneAndTrainsAsPeftDoes) {
  const auto model = read(f64);
  const auto frozen = values_of(model->parameters());
  ASSERT_TRUE(load_adapter(*model, adapter()).has_value());
  model->train();
  const nn::ParameterList adapters = trainable(*model);
  const json wanted = entry()["gradients"];
  EXPECT_EQ(adapters.size(), wanted.size());
  backward(loss_of(*model));
  for (const nn::Parameter& parameter : adapters) {
    double norm = 0;
    for (const double value : parameter.tensor.grad().to_vector()) {
      norm += value * value;
    }
    const json& summary = wanted[std::string(parameter.name)];
    ASSERT_TRUE(summary.is_array()) << parameter.name;
    EXPECT_NEAR(std::sqrt(norm), summary[0].get<double>(),
                1e-6 * std::max(0.05, summary[0].get<double>()))
        << parameter.name;
  }
  optim::AdamW optimizer(adapters, {.lr = 3e-3, .weight_decay = 0.1});
  const json recorded = entry();
  for (const json& loss : recorded["losses"]) {
    optimizer.zero_grad();
    const Tensor found = loss_of(*model);
    EXPECT_NEAR(found.item(), loss.get<double>(), 1e-6 * loss.get<double>());
    backward(found);
    optimizer.step();
  }
  std::vector<double> after;
  for (const nn::Parameter& parameter : model->parameters()) {
    if (!parameter.tensor.requires_grad()) {
      EXPECT_FALSE(parameter.tensor.grad().defined());
      const auto some = parameter.tensor.to_vector();
      after.insert(after.end(), some.begin(), some.end());
    }
  }
  EXPECT_EQ(after, frozen);
}

TEST_P(AdapterTest, IsWrittenAsItWasRead) {
  const auto model = read(f32);
  const AdapterOptions options = load_adapter(*model, adapter()).value();
  const char* kept = std::getenv("NEAP_ADAPTERS");  // for record_adapter.py
  const std::string there = kept == nullptr
                                ? folder_.at("a/b")
                                : std::string(kept) + "/" + GetParam();
  const auto saved = save_adapter(*model, options, there, "the \"base\"");
  ASSERT_TRUE(saved.has_value()) << saved.error().message;
  const auto again = read(f32);
  const auto loaded = load_adapter(*again, there);
  ASSERT_TRUE(loaded.has_value()) << loaded.error().message;
  EXPECT_EQ(loaded->targets, options.targets);
  EXPECT_EQ(loaded->lora.alpha, options.lora.alpha);
  EXPECT_EQ(loaded->lora.by_root, options.lora.by_root);
  EXPECT_EQ(values_of(again->parameters()), values_of(model->parameters()));
  const auto file = formats::SafetensorsFile::open(
      files::system_door(), there + "/adapter_model.safetensors");
  const auto theirs = formats::SafetensorsFile::open(
      files::system_door(), adapter() + "/adapter_model.safetensors");
  ASSERT_EQ(file->entries().size(), theirs->entries().size());
  for (const auto& one : theirs->entries()) {
    EXPECT_NE(file->find(one.name), nullptr) << one.name;
  }
}

TEST_P(AdapterTest, ChangesNothingAtFirst) {
  const auto model = read(f32);
  const auto before = (*model)(numbers("tokens")).to_vector();
  EXPECT_GT(add_adapter(*model, {.lora = {.rank = 2}}), 0);
  EXPECT_EQ((*model)(numbers("tokens")).to_vector(), before);
}

TEST_P(AdapterTest, ACompiledStepHasTheBitsOfAnEagerOne) {
  const auto train = [&](bool is_compiled) {
    Generator generator(7);
    const UseGenerator use(generator);
    const auto model = read(f32);
    add_adapter(*model, {.lora = {.rank = 2, .dropout = 0.1}});
    model->train();
    optim::AdamW optimizer(trainable(*model), {.lr = 1e-2});
    const auto step = [&](const Tensor& tokens, const Tensor& targets) {
      const Tensor loss = cross_entropy(reshape((*model)(tokens), {-1, 37}),
                                        reshape(targets, {-1}));
      backward(loss);
      optimizer.step({.release_gradients = true});
      return loss.detach();
    };
    auto compiled = compile(step);
    std::vector<double> all;
    for (int i = 0; i < 4; ++i) {
      const Tensor tokens = numbers("tokens");
      const Tensor targets = numbers("targets");
      all.push_back(
          (is_compiled ? compiled(tokens, targets) : step(tokens, targets))
              .item());
    }
    const auto values = values_of(model->parameters());
    all.insert(all.end(), values.begin(), values.end());
    return all;
  };
  EXPECT_EQ(train(true), train(false));
}

TEST_P(AdapterTest, WhatIsNotImplementedIsNamedAtOnce) {
  const auto refused = [&](const char* what, const char* into,
                           const char* says) {
    const auto model = read(f32);
    const auto loaded = load_adapter(*model, changed(what, into));
    const auto merged = merge_adapter(*model, folder_.path());
    ASSERT_FALSE(loaded.has_value() || merged.has_value()) << says;
    for (const std::string& message :
         {loaded.error().message, merged.error().message}) {
      EXPECT_THAT(message, HasSubstr(says));
      EXPECT_EQ(message.find('\n'), std::string::npos);
    }
  };
  refused(R"("use_dora": false)", R"("use_dora": true)",
          "use_dora is not known here");
  refused(R"("bias": "none")", R"("bias": "all")", "bias is not none");
  refused(R"("peft_type": "LORA")", R"("peft_type": "IA3")",
          "peft_type is 'IA3'");
  refused(R"("init_lora_weights": true)", R"("init_lora_weights": "pissa")",
          "init_lora_weights is neither");
  refused(R"("rank_pattern": {})", R"("rank_pattern": {"q_proj": 2})",
          "rank_pattern is not known here");
}

TEST_P(AdapterTest, WeightsThatDoNotFitAreNamed) {
  const std::string rank = GetParam() == kNames[0] ? R"("r": 3)" : R"("r": 2)";
  auto model = read(f32);
  const auto before = values_of(model->parameters());
  EXPECT_FALSE(merge_adapter(*model, changed(rank, R"("r": 5)")).has_value());
  EXPECT_EQ(values_of(model->parameters()), before);
  const auto loaded = load_adapter(*model, folder_.path());
  ASSERT_FALSE(loaded.has_value());
  EXPECT_EQ(loaded.error().kind, FailureKind::kMismatch);
  model = read(f32);
  EXPECT_THAT(load_adapter(*model, changed(R"("target_modules": [)",
                                           R"("target_modules": ["nose",)"))
                  .error()
                  .message,
              HasSubstr("no linear layer's name ends in 'nose'"));
}

INSTANTIATE_TEST_SUITE_P(Models, AdapterTest, ::testing::ValuesIn(kNames),
                         [](const auto& at) { return at.param; });

}  // namespace
}  // namespace neap::models
