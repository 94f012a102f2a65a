// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

/// Whether any element, or every one, along some axes or in all is not zero;
/// every dtype but bf16, to bool. NaN is not zero. Of no element any is false
/// and all is true. THROWS: ShapeError for a bad axis.
NEAP_API Tensor any(const TensorOperand& x);
NEAP_API Tensor any(const TensorOperand& x, const Shape& axes,
                    bool keepdim = false);
NEAP_API Tensor all(const TensorOperand& x);
NEAP_API Tensor all(const TensorOperand& x, const Shape& axes,
                    bool keepdim = false);

/// How many elements are not zero, as i64.
NEAP_API Tensor count_nonzero(const TensorOperand& x);
NEAP_API Tensor count_nonzero(const TensorOperand& x, const Shape& axes,
                              bool keepdim = false);

}  // namespace neap
