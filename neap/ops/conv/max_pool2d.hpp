// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Largest elements of windows, and the ops that their derivatives are.
#pragma once

#include <array>

#include "neap/graph/recorder.hpp"
#include "neap/ops/conv/conv_options.hpp"

namespace neap {

namespace kernels {
struct PoolAttrs;
}  // namespace kernels

namespace ops {
NEAP_API extern const graph::Op kMaxPool2d;
NEAP_API extern const graph::Op kMaxPool2dGrad;
/// The largest elements, and where they were (empty unless keeps_codes).
NEAP_API std::array<Tensor, 2> max_pool2d_of(const Operand& x,
                                             const kernels::PoolAttrs& attrs);
/// max_pool2d with windows that were computed before; keeps what the derivative
/// needs where there will be one.
Tensor pool_images(const Tensor& x, kernels::PoolAttrs attrs,
                   const CallSite& site);
}  // namespace ops

/// max_pool1d, max_pool2d.
template <int kAxes>
struct MaxPoolOptions {
  PerAxis<kAxes> kernel;      // elements of a window
  PerAxis<kAxes> stride = 0;  // 0: the kernel
  /// Elements at both ends; at most half of the kernel.
  PerAxis<kAxes> padding = 0;
  PerAxis<kAxes> dilation = 1;
  bool ceil_mode = false;  // true: windows that only begin inside count too
};

/// y = the largest element of each window: (n, c, h, w) or (c, h, w); f32, f64.
/// Padding is never the largest. The first of equal ones in row-major order has
/// the derivative; a NaN wins. Keeps which element it was, in as few
/// bits as the window allows (2 for 2 x 2, 4 for 3 x 3).
/// THROWS: ShapeError, DTypeError; ValueError for options that say no window.
NEAP_API Tensor max_pool2d(const TensorOperand& x,
                           const MaxPoolOptions<2>& options);

/// The same along one axis: (n, c, l) or (c, l).
NEAP_API Tensor max_pool1d(const TensorOperand& x,
                           const MaxPoolOptions<1>& options);

/// The largest elements of windows that divide h and w in so many parts, from
/// floor(o in / out) to ceil((o + 1) in / out); -1: as many as there are
/// elements. THROWS: as max_pool2d.
NEAP_API Tensor adaptive_max_pool2d(const TensorOperand& x,
                                    const PerAxis<2>& output_size);

namespace ops {

/// dx = the sum of g over the windows whose largest element an element was.
/// `codes` and `attrs` as max_pool2d's. f32, f64.
NEAP_API Tensor max_pool2d_grad(const Operand& g, const Operand& codes,
                                const kernels::PoolAttrs& attrs);

NEAP_API extern const graph::Op kMaxPool2dTake;

/// The elements of u that were the largest of their windows.
/// `codes` and `attrs` as max_pool2d's. f32, f64.
NEAP_API Tensor max_pool2d_take(const Operand& u, const Operand& codes,
                                const kernels::PoolAttrs& attrs);

}  // namespace ops

}  // namespace neap
