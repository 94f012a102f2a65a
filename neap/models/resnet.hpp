// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Residual networks (He et al., "Deep residual learning for image recognition",
// 2016), for small images and large ones, with torchvision's names.
#pragma once

#include <cstdint>

#include "neap/models/resnet_block.hpp"
#include "neap/nn/linear.hpp"

namespace neap::models {

/// The layers in front of the blocks.
enum class ResNetStem : std::uint8_t {
  kSmall,  // a convolution of 3 x 3, for images such as CIFAR's
  kLarge,  // one of 7 x 7 and a pooling, a quarter of the size (torchvision's)
};

struct ResNetOptions {
  std::int64_t layers = 18;   // 18 or 34; 50, 101 or 152 with bottlenecks
  std::int64_t channels = 3;  // channels of the images
  std::int64_t width = 64;    // channels of layer1, 8 times as many in layer4;
                              // 4 times as many of bottlenecks
  std::int64_t classes = 10;
  ResNetStem stem = ResNetStem::kSmall;
  DType dtype = f32;
};

/// The names are torchvision's: "conv1", "bn1", "layer1.0.conv1", ..., "fc".
class NEAP_API ResNet final : public nn::Cloneable<ResNet> {
 public:
  /// THROWS: ValueError for a size below 1, or another number of layers;
  /// DTypeError unless f32 or f64; OutOfMemory.
  explicit ResNet(const ResNetOptions& options = {},
                  CallSite site = CallSite::here());
  ResNet(const ResNet& other, nn::Cloning& cloning);

  /// (n, channels, height, width) -> (n, classes).
  Tensor forward(const Tensor& x) const override;

 private:
  void name_parts();

  ResNetStem stem_;
  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Sequential layer1_;
  nn::Sequential layer2_;
  nn::Sequential layer3_;
  nn::Sequential layer4_;
  nn::Linear fc_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::ResNet>;
}  // namespace neap::nn
