// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/batch_norm.hpp"

#include "neap/base/raise.hpp"
#include "neap/tensor/create.hpp"

namespace neap::nn::detail {

using base::raise;

void check_batch_norm(std::int64_t features, const BatchNormConfig& config,
                      DType dtype) {
  if (features < 1) {
    raise<ValueError>("BatchNorm: {} features, expected 1 or more", features);
  }
  if (!(config.eps >= 0.0)) {
    raise<ValueError>("BatchNorm: eps is {}, expected 0 or more", config.eps);
  }
  const double momentum = config.momentum.value_or(0.0);
  if (!(momentum >= 0.0 && momentum <= 1.0)) {
    raise<ValueError>("BatchNorm: momentum is {}, expected 0 to 1", momentum);
  }
  if (dtype != f32 && dtype != f64) {
    raise<DTypeError>("BatchNorm: computes in f32 and f64, not in {}",
                      name_of(dtype));
  }
}

Tensor channel_values(std::int64_t features, double value, DType dtype,
                      memory::Category category, const CallSite& site) {
  const memory::ContextGuard guard(
      [&](memory::Context& c) { c.category = category; });
  return full({features}, value, dtype, site);
}

Tensor batch_counter(const CallSite& site) {
  const memory::ContextGuard guard(
      [](memory::Context& c) { c.category = memory::Category::kBuffers; });
  return full({}, 0.0, i64, site);
}

void check_rank(const char* layer, const Tensor& x, int least, int most) {
  if (x.rank() < least || x.rank() > most) {
    raise<ShapeError>("{}: x {}, expected rank {} to {}", layer,
                      format_shape(x.shape()), least, most);
  }
}

}  // namespace neap::nn::detail

namespace neap::nn {

template class Cloneable<BatchNorm1d>;
template class Cloneable<BatchNorm2d>;

}  // namespace neap::nn
