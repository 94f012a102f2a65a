// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Layers without parameters: activations, Dropout, Flatten.
#pragma once

#include "neap/nn/layer.hpp"

namespace neap::nn {

class NEAP_API ReLU : public Layer {
 public:
  Tensor forward(const Tensor& x) override;
};

class NEAP_API Tanh : public Layer {
 public:
  Tensor forward(const Tensor& x) override;
};

class NEAP_API Sigmoid : public Layer {
 public:
  Tensor forward(const Tensor& x) override;
};

/// While training, sets each element to zero with probability p and divides
/// the others by 1 - p; else the identity. One draw of the generator a call.
class NEAP_API Dropout : public Layer {
 public:
  /// THROWS: ValueError unless 0 <= p < 1.
  explicit Dropout(double p = 0.5);
  Tensor forward(const Tensor& x) override;
  double p() const noexcept { return p_; }

 private:
  double p_;
};

/// (n, a, b, ...) to (n, a b ...).
class NEAP_API Flatten : public Layer {
 public:
  /// THROWS: ShapeError for rank 0.
  Tensor forward(const Tensor& x) override;
};

}  // namespace neap::nn
