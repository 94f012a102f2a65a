// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// What training and evaluating measure in the same way. Of this room alone.
#pragma once

#include "neap/nn/losses.hpp"
#include "neap/train/trainer.hpp"

namespace neap::train {

inline Tensor loss_of(const Loss& loss, const Tensor& output,
                      const Tensor& target) {
  return loss ? loss(output, target) : cross_entropy(output, target);
}

/// 0 where the two are not logits and labels.
inline double accuracy_of(const Tensor& output, const Tensor& target) {
  const bool is_classification =
      output.rank() == 2 && target.rank() == 1 && target.dtype() == i64 &&
      output.size(0) == target.size(0) && output.size(0) > 0;
  return is_classification ? nn::accuracy(output, target) : 0.0;
}

}  // namespace neap::train
