// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The blocks of residual networks:
//
//   y = relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x))
//
// and the one with a third convolution, of which the second is narrow.
#pragma once

#include <cstdint>

#include "neap/nn/batch_norm.hpp"
#include "neap/nn/conv.hpp"
#include "neap/nn/sequential.hpp"

namespace neap::models {

/// The parameters are named as those of torchvision's BasicBlock: "conv1",
/// "bn1", "conv2", "bn2", and where size or channels change, "downsample.0" (a
/// 1 x 1 convolution) and "downsample.1" (its batch norm).
class NEAP_API ResNetBlock final : public nn::Cloneable<ResNetBlock> {
 public:
  /// THROWS: as nn::Conv2d.
  ResNetBlock(std::int64_t in, std::int64_t out, std::int64_t stride,
              DType dtype = f32, CallSite site = CallSite::here());
  ResNetBlock(const ResNetBlock& other, nn::Cloning& cloning);

  /// (n, in, h, w) -> (n, out, h / stride, w / stride), rounded up.
  Tensor forward(const Tensor& x) const override;

 private:
  void name_parts();

  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d bn2_;
  nn::Sequential downsample_;  // empty: the shortcut is x
};

/// conv1 (1 x 1) to `width` channels, conv2 (3 x 3, with the stride), conv3
/// (1 x 1) to kWider times as many, with "bn1", "bn2", "bn3" and "downsample"
/// as torchvision's Bottleneck.
class NEAP_API ResNetBottleneck final : public nn::Cloneable<ResNetBottleneck> {
 public:
  static constexpr std::int64_t kWider = 4;

  /// THROWS: as nn::Conv2d.
  ResNetBottleneck(std::int64_t in, std::int64_t width, std::int64_t stride,
                   DType dtype = f32, CallSite site = CallSite::here());
  ResNetBottleneck(const ResNetBottleneck& other, nn::Cloning& cloning);

  /// (n, in, h, w) -> (n, kWider width, h / stride, w / stride), rounded up.
  Tensor forward(const Tensor& x) const override;

 private:
  void name_parts();

  nn::Conv2d conv1_;
  nn::BatchNorm2d bn1_;
  nn::Conv2d conv2_;
  nn::BatchNorm2d bn2_;
  nn::Conv2d conv3_;
  nn::BatchNorm2d bn3_;
  nn::Sequential downsample_;  // empty: the shortcut is x
};

/// A convolution without bias, as those before a batch norm are: kernel x
/// kernel, weights after He et al. by the outputs. THROWS: as nn::Conv2d.
nn::Conv2d resnet_conv(std::int64_t in, std::int64_t out, std::int64_t kernel,
                       std::int64_t stride, DType dtype, const CallSite& site);

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::ResNetBlock>;
extern template class Cloneable<models::ResNetBottleneck>;
}  // namespace neap::nn
