// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Shared by the pooling ops: from options and shapes to windows. For sources of
// ops only.
#pragma once

#include "neap/kernels/conv/pool.hpp"
#include "neap/ops/conv/conv_options.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

using kernels::PoolAttrs;
using kernels::PoolAxis;

/// The stride along one axis; 0 stands for the kernel.
template <class Options>
std::int64_t stride_of(const Options& options, int axis) {
  return options.stride[axis] != 0 ? options.stride[axis]
                                   : options.kernel[axis];
}

/// The windows that a call asks for along one axis.
struct WindowOptions {
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  bool ceil_mode = false;
};

/// An axis of regular windows, after PyTorch's rules: with `ceil_mode` the
/// last window may reach beyond the padding, and has to begin before it.
/// THROWS: ValueError for numbers that are none of a window; ShapeError when
/// there is no window, or one without elements.
PoolAxis pool_axis(std::string_view op, std::int64_t in,
                   const WindowOptions& options);

/// An axis of windows that divide it in `out`; -1: as many as it has
/// elements. THROWS: ValueError, ShapeError.
PoolAxis adaptive_axis(std::string_view op, std::int64_t in, std::int64_t out);

/// x as (n, c, h, w), from (n, c, h, w) or (c, h, w); for one spatial axis from
/// (n, c, l) or (c, l), with h of 1. THROWS: ShapeError.
Tensor images_of(std::string_view op, const Operand& x, int spatial_axes);
/// The reverse: y with the axes of x.
Tensor as_axes_of(Tensor y, const Tensor& x, int spatial_axes);

/// Shape rules: (n, c, in, in) to (n, c, out, out), or back.
void infer_pool(const OpArgs& args, std::span<Spec> out);
void infer_pool_grad(const OpArgs& args, std::span<Spec> out);
/// Input 1 are the codes of input 0's windows. THROWS: DTypeError, ShapeError.
void check_codes(std::string_view op, const OpArgs& args);

}  // namespace neap::ops
