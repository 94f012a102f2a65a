// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Residual networks for small images (He et al., "Deep residual learning for
// image recognition", 2016): the blocks of ResNet-18 and ResNet-34 behind one
// 3 x 3 convolution, without the pooling at the front that is for large images.
#pragma once

#include <cstdint>

#include "neap/models/resnet_block.hpp"
#include "neap/nn/linear.hpp"

namespace neap::models {

struct ResNetOptions {
  std::int64_t layers = 18;   // 18 or 34
  std::int64_t channels = 3;  // channels of the images
  std::int64_t width = 64;    // channels of layer1; 8 of it in layer4
  std::int64_t classes = 10;
  DType dtype = f32;
};

/// The names are torchvision's: "conv1", "bn1", "layer1.0.conv1", ..., "fc".
class NEAP_API ResNet final : public nn::Cloneable<ResNet> {
 public:
  /// THROWS: ValueError for a size below 1, or layers other than 18 and 34;
  /// DTypeError unless f32 or f64; OutOfMemory.
  explicit ResNet(const ResNetOptions& options = {},
                  CallSite site = CallSite::here());
  ResNet(const ResNet& other, nn::Cloning& cloning);

  /// (n, channels, height, width) -> (n, classes).
  Tensor forward(const Tensor& x) const override;

 private:
  void name_parts();

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
