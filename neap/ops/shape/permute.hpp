// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kPermute;
}  // namespace ops

/// A view with the axes in another order: order[i] becomes axis i; negative
/// axes count from the end. THROWS: ShapeError unless a permutation.
NEAP_API Tensor permute(const Operand& x, const Shape& order);

}  // namespace neap
