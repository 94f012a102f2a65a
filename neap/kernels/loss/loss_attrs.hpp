// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The attributes of losses; attrs.hpp has the rules for all attributes.
#pragma once

#include <cstdint>

namespace neap::kernels {

/// The reduction of the losses of samples or elements.
enum class LossReduction : std::int64_t {
  kMean,
  kSum,
  kNone,  // losses stay as they are
};

/// cross_entropy: samples labelled `ignore_index` do not count.
struct CrossEntropyAttrs {
  double label_smoothing = 0.0;  // share in [0, 1] spread over all classes
  std::int64_t ignore_index = -100;
  LossReduction reduction = LossReduction::kMean;
};

}  // namespace neap::kernels
