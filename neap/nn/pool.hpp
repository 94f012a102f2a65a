// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Layers that make images smaller, or larger, without parameters.
#pragma once

#include "neap/nn/layer.hpp"
#include "neap/ops/conv/avg_pool2d.hpp"
#include "neap/ops/conv/interpolate.hpp"
#include "neap/ops/conv/max_pool2d.hpp"

namespace neap::nn {

/// A layer that is one function of x with one set of options:
/// MaxPool2d pool({.kernel = 3, .stride = 2}).
template <class Derived, class Options>
class PoolLayer : public Cloneable<Derived> {
 public:
  explicit PoolLayer(const Options& options) : options_(options) {}
  PoolLayer(const Derived& other, Cloning& cloning)
      : Cloneable<Derived>(other, cloning), options_(other.options()) {}
  const Options& options() const noexcept { return options_; }

 private:
  Options options_;
};

class NEAP_API MaxPool1d : public PoolLayer<MaxPool1d, MaxPoolOptions<1>> {
 public:
  using PoolLayer::PoolLayer;
  MaxPool1d(const MaxPool1d& other, Cloning& cloning)
      : PoolLayer(other, cloning) {}
  Tensor forward(const Tensor& x) const override {
    return max_pool1d(x, options());
  }
};

class NEAP_API MaxPool2d : public PoolLayer<MaxPool2d, MaxPoolOptions<2>> {
 public:
  using PoolLayer::PoolLayer;
  MaxPool2d(const MaxPool2d& other, Cloning& cloning)
      : PoolLayer(other, cloning) {}
  Tensor forward(const Tensor& x) const override {
    return max_pool2d(x, options());
  }
};

class NEAP_API AvgPool1d : public PoolLayer<AvgPool1d, AvgPoolOptions<1>> {
 public:
  using PoolLayer::PoolLayer;
  AvgPool1d(const AvgPool1d& other, Cloning& cloning)
      : PoolLayer(other, cloning) {}
  Tensor forward(const Tensor& x) const override {
    return avg_pool1d(x, options());
  }
};

class NEAP_API AvgPool2d : public PoolLayer<AvgPool2d, AvgPoolOptions<2>> {
 public:
  using PoolLayer::PoolLayer;
  AvgPool2d(const AvgPool2d& other, Cloning& cloning)
      : PoolLayer(other, cloning) {}
  Tensor forward(const Tensor& x) const override {
    return avg_pool2d(x, options());
  }
};

/// The output size is the option: AdaptiveAvgPool2d pool(1).
class NEAP_API AdaptiveAvgPool2d
    : public PoolLayer<AdaptiveAvgPool2d, PerAxis<2>> {
 public:
  using PoolLayer::PoolLayer;
  AdaptiveAvgPool2d(const AdaptiveAvgPool2d& other, Cloning& cloning)
      : PoolLayer(other, cloning) {}
  Tensor forward(const Tensor& x) const override {
    return adaptive_avg_pool2d(x, options());
  }
};

class NEAP_API AdaptiveMaxPool2d
    : public PoolLayer<AdaptiveMaxPool2d, PerAxis<2>> {
 public:
  using PoolLayer::PoolLayer;
  AdaptiveMaxPool2d(const AdaptiveMaxPool2d& other, Cloning& cloning)
      : PoolLayer(other, cloning) {}
  Tensor forward(const Tensor& x) const override {
    return adaptive_max_pool2d(x, options());
  }
};

class NEAP_API Upsample : public PoolLayer<Upsample, InterpolateOptions> {
 public:
  using PoolLayer::PoolLayer;
  Upsample(const Upsample& other, Cloning& cloning)
      : PoolLayer(other, cloning) {}
  Tensor forward(const Tensor& x) const override {
    return interpolate(x, options());
  }
};

extern template class Cloneable<MaxPool1d>;
extern template class Cloneable<MaxPool2d>;
extern template class Cloneable<AvgPool1d>;
extern template class Cloneable<AvgPool2d>;
extern template class Cloneable<Upsample>;
extern template class Cloneable<AdaptiveAvgPool2d>;
extern template class Cloneable<AdaptiveMaxPool2d>;

}  // namespace neap::nn
