// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// avg_pool2d and its adjoint: windows' sums, divided by `divisor` or by the
// number of their elements, those of the padding included where
// counts_padding. PoolAttrs (pool.hpp); f32, f64.
//
// A window is summed down its columns first, row by row, then along these sums,
// each beginning with 0. The adjoint adds the windows that reach an element in
// the same way: rows of outputs first, then along them. So both work on whole
// rows, and a sum has as many roundings as the window's sides have elements.
#pragma once

#include "neap/kernels/conv/pool.hpp"

namespace neap::kernels {

///   in[0]  x  (n, c, h, w)    any strides
///   out[0] y  (n, c, oh, ow)  dense
extern const KernelList avg_pool2d_kernels;

///   in[0]  g   (n, c, oh, ow)  any strides
///   out[0] dx  (n, c, h, w)    dense
extern const KernelList avg_pool2d_grad_kernels;

/// The divisor of the sum of a window that counts so many rows and columns.
template <class T>
T pool_divisor(const PoolAttrs& attrs, std::int64_t rows,
               std::int64_t columns) noexcept {
  return attrs.divisor != 0 ? static_cast<T>(attrs.divisor)
                            : static_cast<T>(rows) * static_cast<T>(columns);
}

}  // namespace neap::kernels
