// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Checks of class labels. For sources of ops only.
#pragma once

#include <optional>

#include "neap/tensor/tensor.hpp"

namespace neap::ops {

/// THROWS: ShapeError unless (N, C) and (N); DTypeError unless f32 or f64, and
/// i64.
void check_classification(const char* op, const tensor::Spec& logits,
                          const tensor::Spec& labels);

/// Kernels cannot refuse a value, so labels are looked at before: those in host
/// memory. THROWS: DTypeError unless i64; ValueError for one outside
/// [0, classes) that is not `ignored`.
void check_labels(const char* op, const Tensor& labels, std::int64_t classes,
                  std::optional<std::int64_t> ignored = {});

}  // namespace neap::ops
