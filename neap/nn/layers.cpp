// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/layers.hpp"

#include "neap/base/raise.hpp"
#include "neap/ops/activation/activations.hpp"
#include "neap/ops/activation/parametric.hpp"
#include "neap/ops/activation/relu.hpp"
#include "neap/ops/elementwise/dropout.hpp"
#include "neap/ops/shape/views.hpp"

namespace neap::nn {

using base::raise;

Tensor ReLU::forward(const Tensor& x) const {
  return relu(x);
}

Tensor Tanh::forward(const Tensor& x) const {
  return neap::tanh(x);
}

Tensor Sigmoid::forward(const Tensor& x) const {
  return sigmoid(x);
}

Tensor GELU::forward(const Tensor& x) const {
  return gelu(x, form_);
}

Tensor SiLU::forward(const Tensor& x) const {
  return silu(x);
}

Tensor Mish::forward(const Tensor& x) const {
  return mish(x);
}

Tensor LeakyReLU::forward(const Tensor& x) const {
  return leaky_relu(x, slope_);
}

ELU::ELU(double alpha) : alpha_(alpha) {
  if (!(alpha >= 0.0)) {
    raise<ValueError>("ELU: alpha is {}, expected alpha >= 0", alpha);
  }
}

Tensor ELU::forward(const Tensor& x) const {
  return elu(x, alpha_);
}

Softplus::Softplus(double beta, double threshold)
    : beta_(beta), threshold_(threshold) {
  if (!(beta > 0.0)) {
    raise<ValueError>("Softplus: beta is {}, expected beta > 0", beta);
  }
}

Tensor Softplus::forward(const Tensor& x) const {
  return softplus(x, beta_, threshold_);
}

Dropout::Dropout(double p) : p_(p) {
  if (!(p >= 0.0 && p < 1.0)) {
    raise<ValueError>("Dropout: p is {}, expected 0 <= p < 1", p);
  }
}

Tensor Dropout::forward(const Tensor& x) const {
  return dropout(x, p_, is_training());
}

Tensor Flatten::forward(const Tensor& x) const {
  if (x.rank() == 0) {
    raise<ShapeError>("Flatten: a rank-0 tensor has no sample axis");
  }
  std::int64_t features = 1;
  for (int axis = 1; axis < x.rank(); ++axis) {
    features = base::checked_mul(features, x.shape()[axis]);
  }
  return reshape(x, {x.shape()[0], features});
}

template class Cloneable<ReLU>;
template class Cloneable<Tanh>;
template class Cloneable<Sigmoid>;
template class Cloneable<GELU>;
template class Cloneable<SiLU>;
template class Cloneable<Mish>;
template class Cloneable<LeakyReLU>;
template class Cloneable<ELU>;
template class Cloneable<Softplus>;
template class Cloneable<Dropout>;
template class Cloneable<Flatten>;

}  // namespace neap::nn
