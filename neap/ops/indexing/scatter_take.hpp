// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

#include "neap/graph/recorder.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kScatterTake;

/// The adjoint of scatter, linear in g. RETURNS: g with 0 where the index says
/// that something is put, and what of g was there: for each index the element,
/// if it is the last in row-major order that names it, else 0. f32, f64. The
/// indices must be in range.
NEAP_API std::pair<Tensor, Tensor> scatter_take(const Operand& g, int axis,
                                                const Operand& index);

}  // namespace neap::ops
