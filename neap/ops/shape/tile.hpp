// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// x as often as `times` says along each axis, one after the other (PyTorch's
/// repeat): as many numbers as axes, or more for new axes in front.
/// THROWS: ShapeError for fewer, or for a negative one.
NEAP_API Tensor repeat(const TensorOperand& x, const Shape& times);

/// The same as repeat; fewer numbers than axes are for the last axes.
NEAP_API Tensor tile(const TensorOperand& x, const Shape& times);

/// Every position of an axis `times` times in place. THROWS: ShapeError for a
/// bad axis or a negative number.
NEAP_API Tensor repeat_interleave(const TensorOperand& x, std::int64_t times,
                                  std::int64_t axis);

}  // namespace neap
