// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// VGG-11 for small images (Simonyan and Zisserman, "Very deep convolutional
// networks for large-scale image recognition", 2015, configuration A): eight
// 3 x 3 convolutions with ReLU, five halvings by max pooling, one linear layer.
#pragma once

#include <cstdint>

#include "neap/nn/linear.hpp"
#include "neap/nn/sequential.hpp"

namespace neap::models {

struct VggOptions {
  Shape image{3, 32, 32};   // channels, height, width
  std::int64_t width = 64;  // channels of the first layer; 8 of it at the end
  std::int64_t classes = 10;
  bool batch_norm = false;  // true: one after every convolution
  double dropout = 0.0;     // probability in [0, 1), before the classifier
  DType dtype = f32;
};

/// The names are torchvision's: "features.0.weight", ...; the one linear layer
/// is "classifier".
class NEAP_API Vgg11 final : public nn::Cloneable<Vgg11> {
 public:
  /// THROWS: ShapeError unless `image` has three axes, the last two of at least
  /// 32; ValueError for a size below 1 or a dropout outside [0, 1); DTypeError
  /// unless f32 or f64; OutOfMemory.
  explicit Vgg11(const VggOptions& options = {},
                 CallSite site = CallSite::here());
  Vgg11(const Vgg11& other, nn::Cloning& cloning);

  /// (n, channels, height, width) -> (n, classes).
  Tensor forward(const Tensor& x) const override;

 private:
  void name_parts();

  double dropout_;
  nn::Sequential features_;
  nn::Linear classifier_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::Vgg11>;
}  // namespace neap::nn
