// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Models of Hugging Face's folders beside what transformers computed with them
// in f64; record.py wrote both.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "golden.hpp"
#include "neap/autograd/backward.hpp"
#include "neap/models/pretrained.hpp"
#include "neap/ops/loss/cross_entropy.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

using nlohmann::json;

constexpr std::size_t kCases = 11;

const json& golden() {
  static const json all = testing::read_golden("cases.json");
  return all;
}

class GoldenModelTest : public testing::GoldenTest {
 protected:
  GoldenModelTest() : GoldenTest(golden()) {}

  // The tables of rotary embeddings have the precision of f32 there.
  double tolerance() const { return dtype() == f64 ? 1e-6 : 1e-5; }

  Tensor numbers(const char* key) const {
    const auto values = entry()[key].get<std::vector<double>>();
    const json& shape = golden()["shape"];
    return from_values(
        values, {shape[0].get<std::int64_t>(), shape[1].get<std::int64_t>()},
        i64);
  }
  Tensor loss_of(const nn::Layer& model) const {
    return cross_entropy(reshape(model(numbers("tokens")),
                                 {-1, golden()["vocab"].get<std::int64_t>()}),
                         reshape(numbers("targets"), {-1}));
  }
  void expect_summary(const json& wanted, const Tensor& got,
                      std::string_view name) const {
    testing::expect_summary(wanted, got, {tolerance(), 0.05}, name);
  }
};

TEST_P(GoldenModelTest, HasTheLogitsOfTransformers) {
  const auto model = read();
  EXPECT_FALSE(model->is_training());
  const NoGrad guard;
  const auto got = (*model)(numbers("tokens")).to_vector();
  const auto wanted = entry()["logits"].get<std::vector<double>>();
  ASSERT_EQ(got.size(), wanted.size());
  EXPECT_LE(distance(got, wanted), tolerance());
}

TEST_P(GoldenModelTest, HasTheGradientsOfTransformers) {
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
      expect_summary(wanted[name], parameter.tensor.grad(), name);
    }
  }
}

TEST_P(GoldenModelTest, TrainsByAdamWAsTransformersDo) {
  const auto model = read();
  model->train();
  optim::AdamW optimizer(model->parameters(),
                         {.lr = 3e-3, .weight_decay = 0.1});
  const json recorded = entry();
  for (const json& wanted : recorded["losses"]) {
    optimizer.zero_grad();
    const Tensor loss = loss_of(*model);
    EXPECT_NEAR(loss.item(), wanted.get<double>(),
                tolerance() * wanted.get<double>());
    backward(loss);
    optimizer.step();
  }
  if (dtype() == f32) {
    return;  // gradients that are 0 but for rounding move weights by AdamW
  }
  for (const nn::Parameter& parameter : model->parameters()) {
    const std::string name(parameter.name);
    expect_summary(entry()["trained"][name], parameter.tensor, name);
  }
}

INSTANTIATE_TEST_SUITE_P(
    All, GoldenModelTest,
    ::testing::Combine(::testing::Range(std::size_t{0}, kCases),
                       ::testing::Values(f32, f64)),
    [](const auto& at) { return testing::name_of_case(golden(), at.param); });

TEST(GoldenModelCasesTest, AreAllRun) {
  EXPECT_EQ(golden()["cases"].size(), kCases);
}

}  // namespace
}  // namespace neap::models
