// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Means of windows, and their derivative.
#pragma once

#include <optional>

#include "neap/graph/recorder.hpp"
#include "neap/ops/conv/conv_options.hpp"

namespace neap {

namespace kernels {
struct PoolAttrs;
}  // namespace kernels

namespace ops {
NEAP_API extern const graph::Op kAvgPool2d;
NEAP_API extern const graph::Op kAvgPool2dGrad;
/// avg_pool2d with windows that were computed before, of (n, c, h, w).
NEAP_API Tensor average_images(const Operand& x,
                               const kernels::PoolAttrs& attrs);
}  // namespace ops

/// avg_pool1d, avg_pool2d.
template <int kAxes>
struct AvgPoolOptions {
  PerAxis<kAxes> kernel;       // elements of a window
  PerAxis<kAxes> stride = 0;   // 0: the kernel
  PerAxis<kAxes> padding = 0;  // zeros at both ends; at most half a kernel
  bool ceil_mode = false;      // true: windows that only begin inside count too
  bool count_include_pad = true;  // the padding's zeros count as elements
  /// The divisor of each sum; nothing: the number of elements.
  std::optional<std::int64_t> divisor_override{};
};

/// y = the mean of each window: (n, c, h, w) or (c, h, w); f32, f64. Keeps
/// nothing. THROWS: ShapeError, DTypeError; ValueError for options that say no
/// window, and a divisor of 0.
NEAP_API Tensor avg_pool2d(const TensorOperand& x,
                           const AvgPoolOptions<2>& options);

/// The same along one axis: (n, c, l) or (c, l).
NEAP_API Tensor avg_pool1d(const TensorOperand& x,
                           const AvgPoolOptions<1>& options);

/// The means of windows that divide h and w in so many parts, from
/// floor(o in / out) to ceil((o + 1) in / out); -1: as many as there are
/// elements. THROWS: as avg_pool2d.
NEAP_API Tensor adaptive_avg_pool2d(const TensorOperand& x,
                                    const PerAxis<2>& output_size);

/// The same along one axis: (n, c, l) or (c, l).
NEAP_API Tensor adaptive_avg_pool1d(const TensorOperand& x,
                                    std::int64_t output_size);

namespace ops {

/// The adjoint of avg_pool2d. f32, f64.
NEAP_API Tensor avg_pool2d_grad(const Operand& g,
                                const kernels::PoolAttrs& attrs);

}  // namespace ops

}  // namespace neap
