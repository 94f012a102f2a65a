// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The block of residual networks:
//
//   y = relu(bn2(conv2(relu(bn1(conv1(x))))) + shortcut(x))
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

/// A convolution without bias, as those before a batch norm are: kernel x
/// kernel, weights after He et al. by the outputs. THROWS: as nn::Conv2d.
nn::Conv2d resnet_conv(std::int64_t in, std::int64_t out, std::int64_t kernel,
                       std::int64_t stride, DType dtype, const CallSite& site);

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::ResNetBlock>;
}  // namespace neap::nn
