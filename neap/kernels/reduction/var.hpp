// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// var: the variance, or its square root, and the mean of x over some axes.
// VarAttrs: bit i of `axes` says that axis i is reduced; the outputs keep it
// with extent 1. f32, f64.
//   in[0]  x     any strides
//   out[0] y     sum (x - mean)^2 / max(0, n - correction), or its root
//   out[1] mean  both any strides, rank and dtype of x
// One pass over memory: blocks (of a column 64 elements) have their own mean
// and sum of squares about it, in two passes over the cache, and are joined in
// double in order (Chan, Golub and LeVeque, "Updating formulae and a pairwise
// algorithm for computing sample variances", 1979). Of nothing both are NaN.
#pragma once

#include "neap/kernels/engine/kernel.hpp"

namespace neap::kernels {

extern const KernelList var_kernels;

}  // namespace neap::kernels
