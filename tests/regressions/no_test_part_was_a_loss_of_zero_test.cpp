// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A measurement over no samples was told as a loss of 0.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <span>

#include "neap/data/loader.hpp"
#include "neap/nn/linear.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/generator.hpp"
#include "neap/train/fit.hpp"

namespace neap::train {
namespace {

// A set of `count` samples of zeros.
struct Zeros {
  std::int64_t count = 0;

  std::int64_t size() const { return count; }
  data::SampleSpec spec() const { return {{2}, f32, {}, i64}; }
  void load(std::int64_t /*index*/, std::span<std::byte> input,
            std::span<std::byte> target) const noexcept {
    std::fill(input.begin(), input.end(), std::byte{0});
    std::fill(target.begin(), target.end(), std::byte{0});
  }
};

class NoTestPartTest : public ::testing::TestWithParam<bool> {};

TEST_P(NoTestPartTest, NoSamplesHaveNoLossAndNoAccuracy) {
  nn::Linear model(2, 2);
  const Zeros none;
  const Zeros few{3};
  data::Loader empty(none, {.batch = 4});
  data::Loader dropped(few, {.batch = 4, .drop_last = true});
  for (data::Loader* loader : {&empty, &dropped}) {
    const Evaluation found = evaluate(model, *loader, {.compile = GetParam()});
    EXPECT_EQ(found.samples, 0);
    EXPECT_TRUE(std::isnan(found.loss));
    EXPECT_TRUE(std::isnan(found.accuracy));
  }
}

TEST_P(NoTestPartTest, NoStepsHaveNoLoss) {
  nn::Linear model(2, 2);
  optim::Adam adam(model.parameters(), {.lr = 0.1});
  const Zeros few{3};
  data::Loader loader(few, {.batch = 3});
  FitOptions options{.epochs = 0};
  options.trainer.compile = GetParam();
  const FitResult result = fit(model, adam, loader, options);
  EXPECT_EQ(result.steps, 0);
  EXPECT_TRUE(std::isnan(result.last_loss));
}

INSTANTIATE_TEST_SUITE_P(Modes, NoTestPartTest, ::testing::Bool(),
                         [](const auto& each) {
                           return each.param ? "compiled" : "eager";
                         });

}  // namespace
}  // namespace neap::train
