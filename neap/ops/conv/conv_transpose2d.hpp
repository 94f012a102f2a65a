// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/ops/conv/conv_options.hpp"

namespace neap {

namespace kernels {
struct ConvAttrs;
}  // namespace kernels

namespace ops {
NEAP_API extern const graph::Op kConvTranspose2d;

/// The primitive; an undefined bias is none.
Tensor conv_transpose2d_by(const Operand& y, const Operand& w,
                           const Tensor& bias, const kernels::ConvAttrs& attrs);
}  // namespace ops

/// The transpose of conv2d with the same weight, which is its gradient: x (n,
/// c, h, w), or (c, h, w) for one sample; weight (c, o / groups, kh, kw); bias
/// (o); y (n, o, oh, ow), where oh is (h - 1) stride - 2 padding + dilation
/// (kh - 1) + output_padding + 1, and ow likewise. f32, f64.
/// THROWS: as conv2d; ValueError unless output_padding is below the stride or
/// the dilation; ShapeError where nothing would be left.
NEAP_API Tensor conv_transpose2d(const Operand& x, const Operand& weight,
                                 const ConvTransposeOptions<2>& options = {});
NEAP_API Tensor conv_transpose2d(const Operand& x, const Operand& weight,
                                 const Operand& bias,
                                 const ConvTransposeOptions<2>& options = {});

}  // namespace neap
