// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/ops/conv/conv_options.hpp"

namespace neap {

namespace kernels {
struct ConvAttrs;
}  // namespace kernels

namespace ops {
NEAP_API extern const graph::Op kConv2d;

/// The primitive; an undefined bias is none.
Tensor conv2d_by(const Operand& x, const Operand& w, const Tensor& bias,
                 const kernels::ConvAttrs& attrs);
}  // namespace ops

/// Cross-correlation, which the field calls convolution (the kernel is not
/// flipped): x (n, c, h, w), or (c, h, w) for one sample; weight (o, c /
/// groups, kh, kw); bias (o); y (n, o, oh, ow), where oh is (h + 2 padding -
/// dilation (kh - 1) - 1) / stride + 1, rounded down, and ow likewise. f32,
/// f64. The order of sums is in kernels/conv/conv.hpp. Convolutions and their
/// transposes of f32 take the current_precision() of their call, their
/// derivatives that of the call. In kBf16 products are taken in pairs, of
/// channels or, in the gradient by the weight, of samples: with one channel or
/// one sample alone, or each channel by itself, all is as in kF32.
/// THROWS: ShapeError for operands that do not fit each other and for a kernel
/// larger than the padded image; ValueError for options that make no sense;
/// DTypeError.
NEAP_API Tensor conv2d(const Operand& x, const Operand& weight,
                       const ConvOptions<2>& options = {});
NEAP_API Tensor conv2d(const Operand& x, const Operand& weight,
                       const Operand& bias, const ConvOptions<2>& options = {});

}  // namespace neap
