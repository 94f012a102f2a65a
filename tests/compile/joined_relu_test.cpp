// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// In which networks a compiled step makes a convolution and its relu one call:
// where nothing stands between them, with a derivative in view or without.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string_view>

#include "neap/autograd/backward.hpp"
#include "neap/compile/compile.hpp"
#include "neap/models/lenet.hpp"
#include "neap/models/resnet.hpp"
#include "neap/models/unet.hpp"
#include "neap/models/vgg.hpp"
#include "neap/ops/ops.hpp"
#include "neap/tensor/create.hpp"

namespace neap::tests {
namespace {

struct Network {
  const char* name;
  Shape images;
  std::int64_t joined;  // calls
  std::unique_ptr<nn::Layer> (*make)();
};

// Networks with batch norms have one between the two.
const Network kNetworks[] = {
    // NOLINT(*-avoid-c-arrays)
    {"LeNet",
     {3, 1, 8, 8},
     2,
     []() -> std::unique_ptr<nn::Layer> {
       return std::make_unique<models::LeNet>(models::LeNetOptions{
           .image = {1, 8, 8}, .channels = {3, 5}, .classes = 4});
     }},
    {"Vgg11",
     {3, 1, 32, 32},
     8,
     []() -> std::unique_ptr<nn::Layer> {
       return std::make_unique<models::Vgg11>(
           models::VggOptions{.image = {1, 32, 32}, .width = 2, .classes = 4});
     }},
    {"Vgg11WithBatchNorms",
     {3, 1, 32, 32},
     0,
     []() -> std::unique_ptr<nn::Layer> {
       return std::make_unique<models::Vgg11>(models::VggOptions{
           .image = {1, 32, 32}, .width = 2, .classes = 4, .batch_norm = true});
     }},
    {"ResNet",
     {3, 2, 12, 16},
     0,
     []() -> std::unique_ptr<nn::Layer> {
       return std::make_unique<models::ResNet>(
           models::ResNetOptions{.channels = 2, .width = 2, .classes = 4});
     }},
    {"UNet",
     {3, 1, 8, 8},
     0,
     []() -> std::unique_ptr<nn::Layer> {
       return std::make_unique<models::UNet>(
           models::UNetOptions{.classes = 4, .width = 2, .depth = 2});
     }},
};

class JoinedReluTest : public ::testing::TestWithParam<Network> {
 protected:
  JoinedReluTest() : layer_(GetParam().make()), x_(randn(GetParam().images)) {}

  static std::int64_t calls_of(std::string_view name,
                               const compiler::Program& program) {
    return std::ranges::count(program.calls, name, &compiler::Call::name);
  }

  std::unique_ptr<nn::Layer> layer_;
  Tensor x_;
};

TEST_P(JoinedReluTest, IsThereInTraining) {
  auto step = neap::compile([&](const Tensor& x) {
    Tensor loss = sum((*layer_)(x));
    backward(loss);
    layer_->zero_grad();
    return loss;
  });
  step.prepare({x_.spec()});
  EXPECT_EQ(calls_of("conv2d_relu_bits", step.program()), GetParam().joined);
  EXPECT_EQ(calls_of("conv2d_relu", step.program()), 0);
}

TEST_P(JoinedReluTest, IsThereInPredictionWithTheSameBits) {
  layer_->eval();
  const auto predict = [&](const Tensor& x) {
    const NoGrad no_grad;
    return (*layer_)(x);
  };
  const Tensor eager = predict(x_);
  auto step = neap::compile(predict);
  const Tensor compiled = step(x_);
  EXPECT_TRUE(
      std::ranges::equal(compiled.values<float>(), eager.values<float>()));
  EXPECT_EQ(calls_of("conv2d_relu", step.program()), GetParam().joined);
  EXPECT_EQ(calls_of("conv2d_relu_bits", step.program()), 0);
}

INSTANTIATE_TEST_SUITE_P(All, JoinedReluTest, ::testing::ValuesIn(kNetworks),
                         [](const auto& which) {
                           return std::string(which.param.name);
                         });

}  // namespace
}  // namespace neap::tests
