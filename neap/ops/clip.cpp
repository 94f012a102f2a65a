// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/clip.hpp"

#include <cmath>
#include <limits>

#include "neap/kernels/clip.hpp"
#include "neap/ops/clip_grad.hpp"
#include "neap/ops/gt.hpp"
#include "neap/ops/lt.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/where.hpp"

namespace neap {
namespace ops {

using kernels::ClipAttrs;

const Op kClip{
    .name = "clip",
    .formula = "y = min(max(x, low), high), dx = low < x < high ? dy : 0",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_signed("clip", args, out[0]); },
    .kernel = &kernels::clip_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, clip_grad(c.take_cotangent(), c.input(0),
                             c.attrs<ClipAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, clip_grad(c.tangent(), c.input(), c.attrs<ClipAttrs>()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

namespace {

Tensor clip_to(const Operand& x, const ClipAttrs& bounds) {
  if (std::isnan(bounds.low) || std::isnan(bounds.high)) {
    base::raise<ValueError>("clip: a bound is NaN, expected numbers");
  }
  return graph::apply(kClip, {x}, bounds);
}

}  // namespace

}  // namespace ops

Tensor clip(const Operand& x, const Operand& low, const Operand& high) {
  if (low.is_number() && high.is_number()) {
    return ops::clip_to(x, {low.number(), high.number()});
  }
  const Tensor& value = ops::tensor_of("clip", x);
  const ops::AtSite site(x);
  const Tensor raised = where(lt(value, low), low, value);
  return where(gt(raised, high), high, raised);
}

Tensor clip_min(const Operand& x, Number low) {
  return ops::clip_to(x,
                      {low.value(), std::numeric_limits<double>::infinity()});
}

Tensor clip_max(const Operand& x, Number high) {
  return ops::clip_to(x,
                      {-std::numeric_limits<double>::infinity(), high.value()});
}

}  // namespace neap
