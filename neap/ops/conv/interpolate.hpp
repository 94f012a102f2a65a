// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
// Images of another size, and their derivative.
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/ops/conv/conv_options.hpp"

namespace neap {

namespace kernels {
struct InterpolateAttrs;
}  // namespace kernels

namespace ops {
NEAP_API extern const graph::Op kInterpolate;
NEAP_API extern const graph::Op kInterpolateGrad;
/// interpolate with positions that were computed before.
NEAP_API Tensor resize_images(const Operand& x,
                              const kernels::InterpolateAttrs& attrs);
}  // namespace ops

enum class Interpolation : std::uint8_t {
  kNearest,   // the element before the position of a new one
  kBilinear,  // the four around it, by their distance
};

/// Either size or scale is given.
struct InterpolateOptions {
  PerAxis<2> size = 0;  // height and width of the result
  double scale = 0.0;   // extents are so many times x's, rounded down
  Interpolation mode = Interpolation::kNearest;
  /// True, with kBilinear: the outermost elements' centres are aligned with
  /// those of x, instead of the images' edges.
  bool align_corners = false;
};

/// Images (n, c, h, w) of another size, by PyTorch's rules; f32, f64. Keeps
/// nothing. THROWS: ShapeError, DTypeError; ValueError unless one of size and
/// scale is given, and for align_corners without kBilinear.
NEAP_API Tensor interpolate(const TensorOperand& x,
                            const InterpolateOptions& options);

namespace ops {

/// The adjoint of interpolate. f32, f64.
NEAP_API Tensor interpolate_grad(const Operand& g,
                                 const kernels::InterpolateAttrs& attrs);

/// Shape rule of both: input 0 is (n, c, h, w), and so is `out` so far.
void infer_resized(const graph::OpArgs& args, std::int64_t h, std::int64_t w,
                   std::span<tensor::Spec> out);

}  // namespace ops

}  // namespace neap
