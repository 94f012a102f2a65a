// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// cross_entropy over some of the rows at a time, to the bits of the whole: the
// losses of rows stay in double until all are there, and are then summed in
// index order. CrossEntropyAttrs.
//
//   cross_entropy_rows    for each piece: its losses and its lse
//   cross_entropy_total   once: the loss of all of them
//   cross_entropy_share   once: the factor that all rows' derivatives have
#pragma once

#include "neap/kernels/engine/kernel.hpp"
#include "neap/kernels/loss/loss_attrs.hpp"

namespace neap::kernels {

///   in[0]  x       (n, C)  logits, any strides
///   in[1]  labels  (n)     i64, any stride
///   out[0] losses  (n)     f64, any stride
///   out[1] lse     (n)     dtype of x, any stride
/// As cross_entropy, unreduced and unrounded. f32, f64 (key operand in[0]).
extern const KernelList cross_entropy_rows_kernels;

///   in[0]  losses  (N)     f64, any stride
///   in[1]  labels  (N)     i64, any stride
///   out[0] loss    ()      f32 or f64
/// Their sum in double and in index order, or, for kMean, that over how many
/// labels count.
extern const KernelList cross_entropy_total_kernels;

///   in[0]  g       ()      cotangent of the mean; f32, f64
///   in[1]  labels  (N)     i64, any stride
///   out[0] share   ()      dtype of g
/// g over how many labels count: the mean's cotangent as that of a sum.
extern const KernelList cross_entropy_share_kernels;

/// out[1] of cross_entropy, and where labels are smoothed each row's mean in
/// the scratch, in double; for these kernels alone.
void lse_of_rows(const Args& args) noexcept;
void lse_of_rows_reference(const Args& args) noexcept;
/// The rows' means in the scratch, or nullptr, and the bytes that they take.
const double* means_of_rows(const Args& args) noexcept;
Bytes bytes_of_means(const Args& args) noexcept;

}  // namespace neap::kernels
