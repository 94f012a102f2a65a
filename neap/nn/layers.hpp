// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Layers without parameters: activations, Dropout, Flatten.
#pragma once

#include "neap/nn/layer.hpp"
#include "neap/ops/gelu.hpp"

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

class NEAP_API GELU : public Layer {
 public:
  explicit GELU(GeluForm form = GeluForm::kExact) : form_(form) {}
  Tensor forward(const Tensor& x) override;

 private:
  GeluForm form_;
};

class NEAP_API SiLU : public Layer {
 public:
  Tensor forward(const Tensor& x) override;
};

class NEAP_API Mish : public Layer {
 public:
  Tensor forward(const Tensor& x) override;
};

class NEAP_API LeakyReLU : public Layer {
 public:
  explicit LeakyReLU(double negative_slope = 0.01) : slope_(negative_slope) {}
  Tensor forward(const Tensor& x) override;

 private:
  double slope_;
};

class NEAP_API ELU : public Layer {
 public:
  /// THROWS: ValueError unless alpha >= 0.
  explicit ELU(double alpha = 1.0);
  Tensor forward(const Tensor& x) override;

 private:
  double alpha_;
};

class NEAP_API Softplus : public Layer {
 public:
  /// THROWS: ValueError unless beta > 0.
  explicit Softplus(double beta = 1.0, double threshold = 20.0);
  Tensor forward(const Tensor& x) override;

 private:
  double beta_;
  double threshold_;
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
