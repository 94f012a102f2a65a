// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Measures that training and evaluating have in common. Of this room alone.
#pragma once

#include <limits>

#include "neap/nn/losses.hpp"
#include "neap/train/trainer.hpp"

namespace neap::train {

inline Tensor loss_of(const Loss& loss, const Tensor& output,
                      const Tensor& target) {
  return loss ? loss(output, target) : cross_entropy(output, target);
}

inline bool is_rehearsed(const Tensor& tensor) {
  const tensor::Storage& storage = *tensor.array()->storage();
  return !storage.has_elements() && storage.domain().is_rehearsal();
}

/// 0 in a rehearsal.
inline double number_of(const Tensor& tensor) {
  return is_rehearsed(tensor) ? 0.0 : tensor.item();
}

/// Whether the two are logits and labels.
inline bool is_classification(const Tensor& output, const Tensor& target) {
  return output.rank() == 2 && target.rank() == 1 && target.dtype() == i64 &&
         output.size(0) == target.size(0) && output.size(0) > 0;
}

/// NaN where the two are not logits and labels; 0 in a rehearsal.
inline double accuracy_of(const Tensor& output, const Tensor& target) {
  if (!is_classification(output, target)) {
    return std::numeric_limits<double>::quiet_NaN();
  }
  return is_rehearsed(output) ? 0.0 : nn::accuracy(output, target);
}

}  // namespace neap::train
