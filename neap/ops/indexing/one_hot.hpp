// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kOneHot;

/// Attributes of one_hot.
struct OneHotAttrs {
  std::int64_t classes = 0;
  DType dtype = DType::kF32;
  std::array<std::uint8_t, 7> padding{};
};
}  // namespace ops

/// labels (...) i64 as (..., classes): 1 at the label, else 0.
/// THROWS: DTypeError; ValueError for negative classes, or a label outside [0,
/// classes) in host memory.
NEAP_API Tensor one_hot(const Operand& labels, std::int64_t classes,
                        DType dtype = f32);

}  // namespace neap
