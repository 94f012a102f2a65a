// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// A small convolutional network in the manner of LeNet (LeCun et al.,
// "Gradient-based learning applied to document recognition", 1998):
//
//   x = relu(conv2(relu(conv1(x))))      3 x 3, borders padded
//   y = fc(flatten(max_pool(x)))         2 x 2
#pragma once

#include <array>
#include <cstdint>

#include "neap/nn/conv.hpp"
#include "neap/nn/linear.hpp"

namespace neap::models {

struct LeNetOptions {
  Shape image{1, 28, 28};                        // channels, height, width
  std::array<std::int64_t, 2> channels{32, 64};  // channels of conv1 and conv2
  std::int64_t classes = 10;
  double dropout = 0.0;  // probability in [0, 1), before fc
  DType dtype = f32;
};

class NEAP_API LeNet final : public nn::Cloneable<LeNet> {
 public:
  /// THROWS: ShapeError unless `image` has three axes, the last two of at least
  /// 2; ValueError for a size below 1 or a dropout outside [0, 1); DTypeError
  /// unless f32 or f64; OutOfMemory.
  explicit LeNet(const LeNetOptions& options = {},
                 CallSite site = CallSite::here());
  LeNet(const LeNet& other, nn::Cloning& cloning);

  /// (n, channels, height, width) -> (n, classes).
  Tensor forward(const Tensor& x) const override;

 private:
  void name_parts();

  double dropout_;
  nn::Conv2d conv1_;
  nn::Conv2d conv2_;
  nn::Linear fc_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::LeNet>;
}  // namespace neap::nn
