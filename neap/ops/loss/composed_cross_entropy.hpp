// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Cross entropy composed of other ops, where the fused kernel has no form of
// it. For sources of losses only.
#pragma once

#include "neap/ops/loss/cross_entropy.hpp"

namespace neap::ops {

/// Logits x (N, C) and labels (N) i64, checked; `options.weight` is given.
Tensor weighted_cross_entropy(const Tensor& x, const Tensor& labels,
                              const CrossEntropyOptions& options);

/// Logits x (N, C), probabilities t of the same shape and dtype. THROWS:
/// ShapeError, DTypeError for others.
Tensor soft_cross_entropy(const Tensor& x, const Tensor& t,
                          const CrossEntropyOptions& options);

}  // namespace neap::ops
