// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Layers without parameters: activations, Dropout, Flatten.
#pragma once

#include "neap/nn/layer.hpp"
#include "neap/ops/activation/activations.hpp"

namespace neap::nn {

class NEAP_API ReLU : public Cloneable<ReLU> {
 public:
  using Cloneable::Cloneable;
  Tensor forward(const Tensor& x) const override;
};

class NEAP_API Tanh : public Cloneable<Tanh> {
 public:
  using Cloneable::Cloneable;
  Tensor forward(const Tensor& x) const override;
};

class NEAP_API Sigmoid : public Cloneable<Sigmoid> {
 public:
  using Cloneable::Cloneable;
  Tensor forward(const Tensor& x) const override;
};

class NEAP_API GELU : public Cloneable<GELU> {
 public:
  explicit GELU(GeluForm form = GeluForm::kExact) : form_(form) {}
  GELU(const GELU& other, Cloning& cloning)
      : Cloneable(other, cloning), form_(other.form_) {}
  Tensor forward(const Tensor& x) const override;

 private:
  GeluForm form_;
};

class NEAP_API SiLU : public Cloneable<SiLU> {
 public:
  using Cloneable::Cloneable;
  Tensor forward(const Tensor& x) const override;
};

class NEAP_API Mish : public Cloneable<Mish> {
 public:
  using Cloneable::Cloneable;
  Tensor forward(const Tensor& x) const override;
};

class NEAP_API LeakyReLU : public Cloneable<LeakyReLU> {
 public:
  explicit LeakyReLU(double negative_slope = 0.01) : slope_(negative_slope) {}
  LeakyReLU(const LeakyReLU& other, Cloning& cloning)
      : Cloneable(other, cloning), slope_(other.slope_) {}
  Tensor forward(const Tensor& x) const override;

 private:
  double slope_;
};

class NEAP_API ELU : public Cloneable<ELU> {
 public:
  /// THROWS: ValueError unless alpha >= 0.
  explicit ELU(double alpha = 1.0);
  ELU(const ELU& other, Cloning& cloning)
      : Cloneable(other, cloning), alpha_(other.alpha_) {}
  Tensor forward(const Tensor& x) const override;

 private:
  double alpha_;
};

class NEAP_API Softplus : public Cloneable<Softplus> {
 public:
  /// THROWS: ValueError unless beta > 0.
  explicit Softplus(double beta = 1.0, double threshold = 20.0);
  Softplus(const Softplus& other, Cloning& cloning)
      : Cloneable(other, cloning),
        beta_(other.beta_),
        threshold_(other.threshold_) {}
  Tensor forward(const Tensor& x) const override;

 private:
  double beta_;
  double threshold_;
};

/// While training, sets each element to zero with probability p and divides
/// the others by 1 - p; else the identity. One draw of the generator a call.
class NEAP_API Dropout : public Cloneable<Dropout> {
 public:
  /// THROWS: ValueError unless 0 <= p < 1.
  explicit Dropout(double p = 0.5);
  Dropout(const Dropout& other, Cloning& cloning)
      : Cloneable(other, cloning), p_(other.p_) {}
  Tensor forward(const Tensor& x) const override;
  double p() const noexcept { return p_; }

 private:
  double p_;
};

/// (n, a, b, ...) to (n, a b ...).
class NEAP_API Flatten : public Cloneable<Flatten> {
 public:
  using Cloneable::Cloneable;
  /// THROWS: ShapeError for rank 0.
  Tensor forward(const Tensor& x) const override;
};

extern template class Cloneable<ReLU>;
extern template class Cloneable<Tanh>;
extern template class Cloneable<Sigmoid>;
extern template class Cloneable<GELU>;
extern template class Cloneable<SiLU>;
extern template class Cloneable<Mish>;
extern template class Cloneable<LeakyReLU>;
extern template class Cloneable<ELU>;
extern template class Cloneable<Softplus>;
extern template class Cloneable<Dropout>;
extern template class Cloneable<Flatten>;

}  // namespace neap::nn
