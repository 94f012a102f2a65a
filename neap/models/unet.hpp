// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// U-Net (Ronneberger, Fischer and Brox, "U-Net: convolutional networks for
// biomedical image segmentation", 2015), with padded convolutions and batch
// norms, as it is mostly written today: a class for every pixel.
//
//   down: two convolutions, then half the size and twice the channels, again
//   up:   twice the size by a transposed convolution, beside what the down path
//         had at that size; two convolutions, again
#pragma once

#include <cstdint>

#include "neap/memory/containers.hpp"
#include "neap/nn/conv.hpp"
#include "neap/nn/sequential.hpp"

namespace neap::models {

struct UNetOptions {
  std::int64_t channels = 1;  // channels of the images
  std::int64_t classes = 2;
  std::int64_t width = 64;  // channels at full size
  std::int64_t depth = 4;   // halvings
  DType dtype = f32;
};

/// Two 3 x 3 convolutions, each with batch norm and ReLU: "double_conv.0",
/// "double_conv.1", "double_conv.3", "double_conv.4".
class NEAP_API DoubleConv final : public nn::Cloneable<DoubleConv> {
 public:
  DoubleConv(std::int64_t in, std::int64_t out, DType dtype = f32,
             CallSite site = CallSite::here());
  DoubleConv(const DoubleConv& other, nn::Cloning& cloning);

  /// (n, in, h, w) -> (n, out, h, w).
  Tensor forward(const Tensor& x) const override { return layers_(x); }

 private:
  nn::Sequential layers_;
};

/// A step upwards: "up" and "conv".
class NEAP_API UNetUp final : public nn::Module {
 public:
  explicit UNetUp(std::int64_t in, DType dtype = f32,
                  CallSite site = CallSite::here());
  UNetUp(const UNetUp& other, nn::Cloning& cloning);

  /// (n, in, h, w) and (n, in / 2, 2 h, 2 w) -> (n, in / 2, 2 h, 2 w).
  Tensor operator()(const Tensor& below, const Tensor& beside,
                    CallSite site = CallSite::here()) const;

 private:
  void name_parts();

  nn::ConvTranspose2d up_;
  DoubleConv conv_;
};

/// The names are those of the best known PyTorch version: "inc",
/// "down1.maxpool_conv.1", ..., "up1.up", "up1.conv", ..., "outc.conv".
class NEAP_API UNet final : public nn::Cloneable<UNet> {
 public:
  /// THROWS: ValueError for a size below 1, or a depth above 16; DTypeError
  /// unless f32 or f64; OutOfMemory.
  explicit UNet(const UNetOptions& options = {},
                CallSite site = CallSite::here());
  UNet(const UNet& other, nn::Cloning& cloning);
  UNet(UNet&& other) noexcept;
  // NOLINTNEXTLINE(performance-noexcept-move-constructor): as nn::Module's
  UNet& operator=(UNet&& other);
  UNet(const UNet&) = delete;
  UNet& operator=(const UNet&) = delete;
  ~UNet() override = default;

  /// (n, channels, h, w) -> (n, classes, h, w). THROWS: ShapeError unless 2 to
  /// the power of `depth` divides h and w.
  Tensor forward(const Tensor& x) const override;

 private:
  void name_parts();

  DoubleConv inc_;
  memory::Vector<nn::Sequential> downs_;  // the way down, full size first
  memory::Vector<UNetUp> ups_;            // the way up, smallest first
  nn::Sequential outc_;
};

}  // namespace neap::models

namespace neap::nn {
extern template class Cloneable<models::DoubleConv>;
extern template class Cloneable<models::UNet>;
}  // namespace neap::nn
