// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Samples of a distribution that its weights give.
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// `count` positions along the last axis of weights (..., n), each drawn with
/// its weight's share of the row's sum: (..., count) i64. f32, f64; weights of
/// 0 are never drawn. With replacement by the inverse of the running sum;
/// without by the order of arrival of exponential clocks (Efraimidis and
/// Spirakis, 2006), which is that of draws one after the other from what is
/// left. One draw of the current generator; all is computed in f64. No
/// derivative. THROWS: ShapeError unless of one axis or more; DTypeError;
/// ValueError for a count below 0 and, in host memory, weights that are
/// negative or not finite, and rows that have fewer weights above 0 than are
/// drawn (with replacement, that have none).
NEAP_API Tensor multinomial(const TensorOperand& weights, std::int64_t count,
                            bool replacement = false);

}  // namespace neap
