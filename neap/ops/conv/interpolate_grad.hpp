// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "neap/graph/recorder.hpp"
#include "neap/kernels/conv/interpolate.hpp"

namespace neap::ops {

NEAP_API extern const graph::Op kInterpolateGrad;

/// The adjoint of interpolate. f32, f64.
NEAP_API Tensor interpolate_grad(const Operand& g,
                                 const kernels::InterpolateAttrs& attrs);

/// Shape rule of both: input 0 is (n, c, h, w), and so is `out` so far.
void infer_resized(const graph::OpArgs& args, std::int64_t h, std::int64_t w,
                   std::span<tensor::Spec> out);

}  // namespace neap::ops
