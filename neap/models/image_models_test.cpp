// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LeNet, Vgg11, ResNet and UNet: PyTorch's losses, gradients and running
// statistics for the same weights, and the same bits as programs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "neap/models/figures_for_test.hpp"
#include "neap/models/lenet.hpp"
#include "neap/models/resnet.hpp"
#include "neap/models/unet.hpp"
#include "neap/models/vgg.hpp"
#include "neap/ops/loss/cross_entropy.hpp"

namespace neap::models {
namespace {

using testing::Projection;

#include "neap/models/image_model_figures.inc"

double sum_of_running(const nn::Module& model) {
  double sum = 0;
  for (const nn::Parameter& buffer : model.buffers()) {
    if (std::string_view(buffer.name).find("running") != std::string::npos) {
      for (const double value : buffer.tensor.to_vector()) {
        sum += value;
      }
    }
  }
  return sum;
}

struct Figures {
  double loss;
  double running;
  std::span<const Projection> gradients;
  double slack = 1.0;  // times the usual tolerance
};

void expect_figures(nn::Layer& model, const Shape& images, int classes,
                    const Figures& want) {
  testing::fill(model);
  const DType dtype = model.parameters().front().tensor.dtype();
  const Tensor x = testing::wave(
      images, [](double i) { return std::sin(0.8 * i); }, dtype);
  const Tensor y = model(x);
  Shape places{images[0]};
  for (int axis = 2; axis < y.rank(); ++axis) {
    places.push_back(y.size(axis));
  }
  const Tensor labels = testing::wave(
      places, [classes](double i) { return std::fmod(5 * i + 2, classes); },
      i64);
  const Tensor loss = cross_entropy(y, labels);
  testing::expect_loss(loss, want.loss, want.slack);
  backward(loss);
  testing::expect_gradients(model, want.gradients, want.slack);
  testing::expect_figure(sum_of_running(model), want.running, dtype, "running",
                         want.slack);
}

using ImageFiguresTest = testing::FiguresTest;

TEST_P(ImageFiguresTest, LeNetIsPyTorchs) {
  LeNet model(
      {.image = {2, 6, 5}, .channels = {3, 4}, .classes = 5, .dtype = dtype()});
  expect_figures(model, {3, 2, 6, 5}, 5,
                 {kLeNetLoss, kLeNetRunning, kLeNetGradients});
}

TEST_P(ImageFiguresTest, Vgg11IsPyTorchs) {
  Vgg11 model({.width = 2, .classes = 5, .batch_norm = true, .dtype = dtype()});
  expect_figures(model, {3, 3, 32, 32}, 5,
                 {kVgg11Loss, kVgg11Running, kVgg11Gradients});
}

TEST_P(ImageFiguresTest, ResNet18IsPyTorchs) {
  ResNet model({.layers = 18, .width = 2, .classes = 5, .dtype = dtype()});
  expect_figures(model, {3, 3, 16, 16}, 5,
                 {kResNet18Loss, kResNet18Running, kResNet18Gradients});
}

TEST_P(ImageFiguresTest, ResNet34IsPyTorchs) {
  ResNet model({.layers = 34, .width = 1, .classes = 5, .dtype = dtype()});
  expect_figures(model, {3, 3, 16, 16}, 5,
                 {kResNet34Loss, kResNet34Running, kResNet34Gradients});
}

TEST_P(ImageFiguresTest, UNetIsPyTorchs) {
  UNet model({.classes = 3, .width = 2, .depth = 2, .dtype = dtype()});
  expect_figures(model, {2, 1, 8, 8}, 3,
                 {kUNetLoss, kUNetRunning, kUNetGradients});
}

INSTANTIATE_TEST_SUITE_P(All, ImageFiguresTest, ::testing::Values(f64, f32),
                         testing::dtype_of_case);

// 53 norms of a few numbers each: f32 has no digits left, f64 has nine.
TEST(ImageModelsTest, ResNet50IsPyTorchs) {
  ResNet model({.layers = 50,
                .width = 1,
                .classes = 5,
                .stem = ResNetStem::kLarge,
                .dtype = f64});
  expect_figures(model, {3, 3, 64, 64}, 5,
                 {kResNet50Loss, kResNet50Running, kResNet50Gradients, 100.0});
}

TEST(ImageModelsTest, TheUsualSizesHaveTheUsualCounts) {
  const auto rehearsal = memory::Domain::create({.is_rehearsal = true});
  const memory::UseDomain use(*rehearsal);  // nothing is behind the elements
  EXPECT_EQ(LeNet().parameter_count(), 144'266);
  EXPECT_EQ(Vgg11({.batch_norm = true}).parameter_count(), 9'231'114);
  EXPECT_EQ(ResNet().parameter_count(), 11'173'962);
  EXPECT_EQ(ResNet({.layers = 34}).parameter_count(), 21'282'122);
  const auto imagenet = [](std::int64_t layers) {
    return ResNet(
               {.layers = layers, .classes = 1000, .stem = ResNetStem::kLarge})
        .parameter_count();
  };
  EXPECT_EQ(imagenet(18), 11'689'512);  // torchvision's
  EXPECT_EQ(imagenet(34), 21'797'672);
  EXPECT_EQ(imagenet(50), 25'557'032);
  EXPECT_EQ(imagenet(101), 44'549'160);
  EXPECT_EQ(imagenet(152), 60'192'808);
  EXPECT_EQ(UNet().parameter_count(), 31'036'546);
}

TEST(ImageModelsTest, ClonesHaveTheSameValues) {
  UNet model({.width = 2, .depth = 2});
  UNet copy = model.clone();
  model.eval();
  copy.eval();
  const Tensor x = rand({1, 1, 8, 8});
  EXPECT_EQ(copy(x).to_vector(), model(x).to_vector());
  ResNet net({.width = 1});
  ResNet twin = net.clone();
  net.eval();
  twin.eval();
  const Tensor image = rand({1, 3, 8, 8});
  EXPECT_EQ(twin(image).to_vector(), net(image).to_vector());
}

TEST(ImageModelsTest, RefusesWhatMakesNoSense) {
  EXPECT_THROW(LeNet({.image = {1, 28}}), ShapeError);
  EXPECT_THROW(LeNet({.dropout = 1.0}), ValueError);
  EXPECT_THROW(Vgg11({.image = {3, 28, 28}}), ShapeError);
  EXPECT_THROW(ResNet({.layers = 51}), ValueError);
  EXPECT_THROW(UNet({.depth = 0}), ValueError);
  UNet model({.width = 1, .depth = 2});
  EXPECT_THROW(model(zeros({1, 1, 6, 8})), ShapeError);
}

}  // namespace
}  // namespace neap::models
