// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by cross_entropy and linear_cross_entropy. For sources of ops only.
#pragma once

#include "neap/kernels/loss/loss_attrs.hpp"
#include "neap/tensor/tensor.hpp"

namespace neap::ops {

/// The derivative of cross_entropy_grad(g, x, labels, ..) in the direction d of
/// x (N, C), which is its own transpose, with log_sum taken for the function of
/// x that it is.
Tensor cross_entropy_curvature(const Tensor& g, const Tensor& x,
                               const Tensor& labels, const Tensor& d,
                               const kernels::CrossEntropyAttrs& attrs);

}  // namespace neap::ops
