// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// The cross entropy of a linear layer's result, without the result: a language
// model's last layer and its loss as one operation.
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/ops/loss/cross_entropy.hpp"

namespace neap {

namespace ops {
NEAP_API extern const graph::Op kLinearCrossEntropy;
}  // namespace ops

/// cross_entropy(linear(x, w, bias), labels, options), with the same bits,
/// and so are its gradients: x (..., in), w (classes, in), bias (classes)
/// or undefined for none, labels (...) i64; f32, f64. Rank 0, or the labels'
/// shape for kNone. Products of f32 are computed in current_precision(), and w
/// may be a constant in bf16, as in linear.
///
/// The logits exist for a block of rows at a time, neither here nor in the
/// backward pass whole: 256 rows, or as many as fit into 8 MiB, or, of very
/// many classes, into 64, but two rows at least. What stays for the backward
/// pass is x, w, bias, labels and a number a row. It computes the logits again,
/// which is a third more work in products than linear and cross_entropy need.
/// Forward mode and derivatives of second and higher order compute all logits
/// at once. With a plug-in's products (kernels/plugin.hpp) the bits are those
/// of the built-in ones.
///
/// Weights of classes together with label_smoothing need the logits summed by
/// weight, which comes from x and the weighted sum of w's rows: equal to
/// cross_entropy's up to rounding, and each label's row of w, (..., in), stays
/// for the backward pass besides.
/// THROWS: ShapeError, DTypeError; ValueError for label_smoothing outside [0,
/// 1], and for a label outside [0, classes) in host memory. Labels that are
/// probabilities, which are as large as the logits, are for cross_entropy
/// alone.
NEAP_API Tensor linear_cross_entropy(const Operand& x, const Operand& w,
                                     const Tensor& bias, const Operand& labels,
                                     const CrossEntropyOptions& options = {});

}  // namespace neap
