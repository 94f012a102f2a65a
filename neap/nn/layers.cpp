// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/layers.hpp"

#include "neap/base/raise.hpp"
#include "neap/ops/dropout.hpp"
#include "neap/ops/relu.hpp"
#include "neap/ops/reshape.hpp"
#include "neap/ops/sigmoid.hpp"
#include "neap/ops/tanh.hpp"

namespace neap::nn {

using base::raise;

Tensor ReLU::forward(const Tensor& x) {
  return relu(x);
}

Tensor Tanh::forward(const Tensor& x) {
  return neap::tanh(x);
}

Tensor Sigmoid::forward(const Tensor& x) {
  return sigmoid(x);
}

Dropout::Dropout(double p) : p_(p) {
  if (!(p >= 0.0 && p < 1.0)) {
    raise<ValueError>("Dropout: p is {}, expected 0 <= p < 1", p);
  }
}

Tensor Dropout::forward(const Tensor& x) {
  return dropout(x, p_, is_training());
}

Tensor Flatten::forward(const Tensor& x) {
  if (x.rank() == 0) {
    raise<ShapeError>("Flatten: a rank-0 tensor has no sample axis");
  }
  std::int64_t features = 1;
  for (int axis = 1; axis < x.rank(); ++axis) {
    features = base::checked_mul(features, x.shape()[axis]);
  }
  return reshape(x, {x.shape()[0], features});
}

}  // namespace neap::nn
