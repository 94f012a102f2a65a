// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kCast;

/// Attributes of cast.
struct CastAttrs {
  DType from = DType::kF32;
  DType to = DType::kF32;
};
}  // namespace ops

/// x in another dtype; x itself when it has that one. To an integer: toward
/// zero; to bool: not zero. Differentiable between floating dtypes.
NEAP_API Tensor cast(const TensorOperand& x, DType dtype);

}  // namespace neap
