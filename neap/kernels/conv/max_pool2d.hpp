// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// max_pool2d: the largest element of each window, and where it was. PoolAttrs
// (pool.hpp); f32, f64. The first of equal ones; a NaN is larger than any
// number, and of several NaN the last counts.
//
// The vector kernel keeps the rows that windows look at in a ring of scratch,
// cut by phases, so that element k of many windows is one vector.
#pragma once

#include "neap/kernels/conv/pool.hpp"

namespace neap::kernels {

///   in[0]  x      (n, c, h, w)    any strides
///   out[0] y      (n, c, oh, ow)  dense
///   out[1] codes  (n, c plane_code_bytes)  u8, dense; (0) unless
///                 keeps_codes
extern const KernelList max_pool2d_kernels;

/// y = the elements of u that the codes name: the derivative of max_pool2d in
/// the direction u.
///   in[0]  u      (n, c, h, w)    any strides
///   in[1]  codes  as max_pool2d gave them, any strides
///   out[0] y      (n, c, oh, ow)  dense
extern const KernelList max_pool2d_take_kernels;

}  // namespace neap::kernels
