// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// LayerNorm and RMSNorm: each sample normalised by its own statistics over the
// last axes.
#pragma once

#include <optional>

#include "neap/nn/layer.hpp"

namespace neap::nn {

/// layer_norm with the parameters "weight" (of normalized_shape, ones at first)
/// and, unless told otherwise, "bias" (zeros at first).
class NEAP_API LayerNorm : public Cloneable<LayerNorm> {
 public:
  /// Neither weight nor bias without `is_affine`. THROWS: ShapeError unless
  /// normalized_shape has axes, all of them positive; ValueError unless
  /// eps >= 0; DTypeError unless f32 or f64; OutOfMemory.
  explicit LayerNorm(const Shape& normalized_shape, double eps = 1e-5,
                     bool is_affine = true, bool has_bias = true,
                     DType dtype = f32, CallSite site = CallSite::here());
  LayerNorm(const LayerNorm& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;

  /// Undefined where there is none.
  const Tensor& weight() const noexcept { return weight_; }
  const Tensor& bias() const noexcept { return bias_; }

 private:
  Shape normalized_shape_;
  double eps_;
  Tensor weight_;
  Tensor bias_;
};

/// rms_norm with the parameter "weight" (of normalized_shape, ones at first).
class NEAP_API RMSNorm : public Cloneable<RMSNorm> {
 public:
  /// eps: as rms_norm's. No weight without `is_affine`. THROWS: as LayerNorm.
  explicit RMSNorm(const Shape& normalized_shape,
                   std::optional<double> eps = {}, bool is_affine = true,
                   DType dtype = f32, CallSite site = CallSite::here());
  RMSNorm(const RMSNorm& other, Cloning& cloning);

  Tensor forward(const Tensor& x) const override;

  /// Undefined where there is none.
  const Tensor& weight() const noexcept { return weight_; }

 private:
  Shape normalized_shape_;
  std::optional<double> eps_;
  Tensor weight_;
};

extern template class Cloneable<LayerNorm>;
extern template class Cloneable<RMSNorm>;

}  // namespace neap::nn
