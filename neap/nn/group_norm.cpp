// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/nn/group_norm.hpp"

#include "neap/base/raise.hpp"
#include "neap/nn/batch_norm.hpp"
#include "neap/ops/norm/group_norm.hpp"

namespace neap::nn {

using base::raise;

GroupNorm::GroupNorm(std::int64_t groups, std::int64_t channels, double eps,
                     bool is_affine, DType dtype, CallSite site)
    : groups_(groups), eps_(eps) {
  if (groups < 1 || channels < 1 || channels % groups != 0) {
    raise<ValueError>("GroupNorm: {} channels in {} groups", channels, groups);
  }
  if (!(eps >= 0.0)) {
    raise<ValueError>("GroupNorm: eps is {}, expected 0 or more", eps);
  }
  if (dtype != f32 && dtype != f64) {
    raise<DTypeError>("GroupNorm: computes in f32 and f64, not in {}",
                      name_of(dtype));
  }
  const auto values = [&](double value) {
    return detail::channel_values(channels, value, dtype,
                                  memory::Category::kParameters, site);
  };
  if (is_affine) {
    weight_ = register_parameter("weight", values(1.0), site);
    bias_ = register_parameter("bias", values(0.0), site);
  }
}

GroupNorm::GroupNorm(const GroupNorm& other, Cloning& cloning)
    : Cloneable(other, cloning),
      groups_(other.groups_),
      eps_(other.eps_),
      weight_(other.weight_.is_given() ? parameter("weight") : Tensor()),
      bias_(other.bias_.is_given() ? parameter("bias") : Tensor()) {}

Tensor GroupNorm::forward(const Tensor& x) const {
  return group_norm(x, groups_, weight_, bias_, eps_);
}

template class Cloneable<GroupNorm>;

}  // namespace neap::nn
