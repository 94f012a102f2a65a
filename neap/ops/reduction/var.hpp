// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kStd;
NEAP_API extern const graph::Op kVar;
}  // namespace ops

struct VarMean {
  Tensor var;
  Tensor mean;
};

/// The variance over some axes (negative ones count from the end), or over
/// all; f32, f64: the sum of (x - mean)^2 by n - correction, or by 0 where that
/// is negative, so that one element has the variance NaN. Each axis is removed,
/// or stays with extent 1 where keepdim. x and the mean are kept for the
/// derivative. THROWS: ShapeError for an axis that is out of range or named
/// twice.
NEAP_API Tensor var(const TensorOperand& x);
NEAP_API Tensor var(const TensorOperand& x, const Shape& axes,
                    bool keepdim = false, double correction = 1.0);

/// The variance with the mean, which comes with it.
NEAP_API VarMean var_mean(const TensorOperand& x, const Shape& axes,
                          bool keepdim = false, double correction = 1.0);

/// The square root of the variance. Where that is 0 so is its derivative.
NEAP_API Tensor std(const TensorOperand& x);
NEAP_API Tensor std(const TensorOperand& x, const Shape& axes,
                    bool keepdim = false, double correction = 1.0);

}  // namespace neap
