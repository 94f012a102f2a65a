// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/conv/interpolate_grad.hpp"

#include "neap/ops/conv/interpolate.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

using kernels::InterpolateAttrs;

const Op kInterpolateGrad{
    .name = "interpolate_grad",
    .formula = "dx = what each element of x gave to the g of another size",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const auto& attrs = args.attrs.as<InterpolateAttrs>();
          infer_resized(args, attrs.h.out, attrs.w.out, out);
          out[0].shape[2] = attrs.h.in;
          out[0].shape[3] = attrs.w.in;
        },
    .kernel = &kernels::interpolate_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0,
                resize_images(c.take_cotangent(), c.attrs<InterpolateAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, interpolate_grad(c.tangent(), c.attrs<InterpolateAttrs>()));
        },
    .facts = {}};

Tensor interpolate_grad(const Operand& g, const InterpolateAttrs& attrs) {
  return graph::apply(kInterpolateGrad, {g}, attrs);
}

}  // namespace neap::ops
