// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/models/mlp.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "neap/memory/out_of_memory.hpp"
#include "neap/tensor/create.hpp"

namespace neap::models {
namespace {

using Widths = std::vector<std::int64_t>;

class MlpTest : public ::testing::Test {
 protected:
  memory::Domain::Handle domain_ = memory::Domain::create();
  memory::UseDomain use_{*domain_};
  Generator generator_{7};
  UseGenerator use_generator_{generator_};
};

TEST_F(MlpTest, HasOneNamedLayerBetweenTwoWidths) {
  const Mlp model(Widths{6, 5, 3});
  std::vector<std::string> names;
  for (const Parameter& parameter : model.parameters()) {
    names.emplace_back(parameter.name);
  }
  EXPECT_EQ(names, (std::vector<std::string>{"fc1.weight", "fc1.bias",
                                             "fc2.weight", "fc2.bias"}));
  EXPECT_EQ(model.parameter_count(), 6 * 5 + 5 + 5 * 3 + 3);
}

TEST_F(MlpTest, FlattensSamplesAndReturnsOneRowEach) {
  Mlp model(Widths{6, 4, 3});
  EXPECT_EQ(model(zeros({2, 2, 3})).shape(), Shape({2, 3}));
  EXPECT_EQ(model(zeros({2, 6})).shape(), Shape({2, 3}));
}

TEST_F(MlpTest, ComputesInTheDtypeAskedFor) {
  const Mlp model(Widths{2, 2}, {.dtype = f64});
  EXPECT_EQ(model.parameter("fc1.weight").dtype(), f64);
}

TEST_F(MlpTest, DropsHiddenUnitsInTrainingOnly) {
  Mlp model(Widths{4, 64, 1}, {.dropout = 0.5});
  const Tensor x = ones({1, 4});
  model.eval();
  EXPECT_EQ(model(x).item(), model(x).item());
  model.train();
  EXPECT_NE(model(x).item(), model(x).item());
}

TEST_F(MlpTest, RefusesFewerThanTwoWidthsAndEmptyOnes) {
  EXPECT_THROW(Mlp(Widths{3}), ValueError);
  EXPECT_THROW(Mlp(Widths{3, 0, 2}), ValueError);
}

TEST_F(MlpTest, NamesItsCallerAndParametersWhenRefused) {
  domain_->set_budget(domain_->stats().external + 8 * kMiB);
  try {
    const Mlp model(Widths{4096, 4096});
    FAIL() << "64 MiB were granted";
  } catch (const OutOfMemory& error) {
    const std::string message = error.what();
    EXPECT_NE(message.find("mlp_test.cpp"), std::string::npos) << message;
    EXPECT_NE(message.find("parameters"), std::string::npos) << message;
  }
}

}  // namespace
}  // namespace neap::models
