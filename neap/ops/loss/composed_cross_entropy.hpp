// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Cross entropy composed of other ops, where the fused kernel has no form of
// it. For sources of losses only.
#pragma once

#include "neap/ops/loss/cross_entropy.hpp"

namespace neap::ops {

/// THROWS: DTypeError, ShapeError unless the weight is (classes) of that dtype.
void check_weight(const char* name, const Tensor& weight, DType dtype,
                  std::int64_t classes);

/// The losses (N) of samples times the weights of their labels, reduced: a mean
/// is over the weights. `options.weight` is given, and checked.
Tensor weighted_losses(const Tensor& each, const Tensor& labels,
                       const CrossEntropyOptions& options);

/// Weighted losses with smoothed labels, from `each`, the plain losses (N), and
/// `apart` (N): the sum over classes c of s / C weight[c] (z[label] - z[c]),
/// for logits z and s = label_smoothing. Reduced as weighted_losses does.
/// `options.weight` is given, and checked.
Tensor smoothed_losses(const Tensor& each, const Tensor& apart,
                       const Tensor& labels,
                       const CrossEntropyOptions& options);

/// Logits x (N, C) and labels (N) i64, checked; `options.weight` is given.
Tensor weighted_cross_entropy(const Tensor& x, const Tensor& labels,
                              const CrossEntropyOptions& options);

/// Logits x (N, C), probabilities t of the same shape and dtype. THROWS:
/// ShapeError, DTypeError for others.
Tensor soft_cross_entropy(const Tensor& x, const Tensor& t,
                          const CrossEntropyOptions& options);

}  // namespace neap::ops
