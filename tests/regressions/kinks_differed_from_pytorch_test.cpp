// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Where a derivative does not exist, the page on numbers named PyTorch, and the
// code chose otherwise. The numbers here are those of PyTorch 2.15.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "neap/autograd/backward.hpp"
#include "neap/autograd/jvp.hpp"
#include "neap/graph/vertex.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/conv/conv2d_relu.hpp"
#include "neap/ops/elementwise/extremes.hpp"
#include "neap/ops/loss/binary_cross_entropy.hpp"
#include "neap/optim/adam.hpp"
#include "neap/tensor/create.hpp"

namespace neap {
namespace {

using testing::ElementsAre;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

Tensor leaf(std::vector<double> values, DType dtype = f32) {
  const auto count = static_cast<std::int64_t>(values.size());
  return requires_grad_(from_values(values, {count}, dtype));
}

template <class F>
memory::Vector<double> slopes(const F& f, const Tensor& x) {
  backward(f(x), {.cotangent = ones_like(x)});
  const memory::Vector<double> reverse = x.grad().to_vector();
  const memory::Vector<double> forward =
      jvp(f, x.detach(), ones_like(x)).tangent.to_vector();
  EXPECT_EQ(forward, reverse);
  return reverse;
}

class KinkTest : public testing::TestWithParam<DType> {};

TEST_P(KinkTest, AClippedElementHasNoDerivativeAtABound) {
  EXPECT_THAT(slopes([](const Tensor& x) { return clip(x, -1, 1); },
                     leaf({-2, -1, 0, 1, 2, kNaN}, GetParam())),
              ElementsAre(0, 0, 1, 0, 0, 0));
  EXPECT_THAT(slopes([](const Tensor& x) { return clip_min(x, 0); },
                     leaf({-2, 0, 1, kNaN, kInf}, GetParam())),
              ElementsAre(0, 0, 1, 0, 1));
  EXPECT_THAT(slopes([](const Tensor& x) { return clip_max(x, 0); },
                     leaf({-2, 0, 1, kNaN, -kInf}, GetParam())),
              ElementsAre(1, 0, 0, 0, 1));
}

TEST_P(KinkTest, ReluPassesTheDerivativeAtNaN) {
  const auto plain = [](const Tensor& x) { return relu(x); };
  EXPECT_THAT(slopes(plain, leaf({-1, 0, 1, kNaN}, GetParam())),
              ElementsAre(0, 0, 1, 1));
  const auto leaky = [](const Tensor& x) { return leaky_relu(x, 0.5); };
  EXPECT_THAT(slopes(leaky, leaf({-1, 0, 1, kNaN}, GetParam())),
              ElementsAre(0.5, 0.5, 1, 0.5));
}

TEST_P(KinkTest, BothOperandsOfAnExtremeHaveTheDerivativeAtNaN) {
  for (const auto f : {&minimum, &maximum}) {
    const Tensor a = leaf({1, kNaN, 1, kNaN}, GetParam());
    const Tensor b = leaf({1, 1, kNaN, kNaN}, GetParam());
    backward(f(a, b), {.cotangent = ones_like(a)});
    EXPECT_THAT(a.grad().to_vector(), ElementsAre(0.5, 1, 1, 1));
    EXPECT_THAT(b.grad().to_vector(), ElementsAre(0.5, 1, 1, 1));
  }
}

TEST_P(KinkTest, CrossEntropyIsFiniteForCertainProbabilities) {
  const Tensor x = leaf({0, 0, 1, 1}, GetParam());
  const Tensor t = leaf({0, 1, 0, 1}, GetParam());
  const Tensor y = binary_cross_entropy(x, t, Reduction::kNone);
  EXPECT_THAT(y.to_vector(), ElementsAre(0, 100, 100, 0));
  backward(y, {.cotangent = ones_like(y)});
  const double steep =
      GetParam() == f32 ? static_cast<float>(1.0F / 1e-12F) : 1.0 / 1e-12;
  EXPECT_THAT(x.grad().to_vector(), ElementsAre(0, -steep, steep, 0));
  // The slope of the loss as it is computed; PyTorch says infinity.
  EXPECT_THAT(t.grad().to_vector(), ElementsAre(100, 100, -100, -100));
}

INSTANTIATE_TEST_SUITE_P(All, KinkTest, testing::Values(f32, f64));

TEST(AdamWDefaultsTest, TheDecayIsAHundredthWhateverElseIsSet) {
  const Tensor w = requires_grad_(ones({2}));
  const ParameterList list{{"w", w, {}}};
  EXPECT_EQ(optim::AdamW(list).options().weight_decay, 0.01);
  EXPECT_EQ(optim::AdamW(list, {.lr = 0.5}).options().weight_decay, 0.01);
  optim::AdamW groups(list, {.lr = 0.5, .weight_decay = 0});
  EXPECT_EQ(groups.options().weight_decay, 0);
  const Tensor v = requires_grad_(ones({2}));
  groups.add_group({{"v", v, {}}}, {.lr = 0.25});
  EXPECT_EQ(groups.options(1).weight_decay, 0.01);
  groups.set_options(0, {.lr = 0.125});
  EXPECT_EQ(groups.options(0).weight_decay, 0.01);
}

TEST(AdamWDefaultsTest, OptionsOfAdamMeanWhatTheySay) {
  const Tensor w = requires_grad_(ones({2}));
  const ParameterList list{{"w", w, {}}};
  const optim::AdamOptions said{.lr = 0.5};
  EXPECT_EQ(optim::AdamW(list, said).options().weight_decay, 0);
  EXPECT_EQ(optim::Adam(list, {.lr = 0.5}).options().weight_decay, 0);
}

}  // namespace
}  // namespace neap
