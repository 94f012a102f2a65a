// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/causal_softmax.hpp"

#include <algorithm>
#include <cmath>

#include "neap/kernels/norm/causal_softmax.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/norm/softmax.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::CausalAttrs;

// The Jacobian is symmetric: one rule serves both directions. Where y is 0, so
// is dx.
Tensor derived(Tensor d, const Tensor& y, double scale) {
  Tensor dx = softmax_grad(std::move(d), y, y.rank() - 1);
  return scale == 1.0 ? dx : mul(std::move(dx), scale);
}

}  // namespace

const Op kCausalSoftmax{
    .name = "causal_softmax",
    .formula =
        "y = softmax(s x) of j <= i + d, else 0; dx = s y (dy - "
        "sum(dy y))",
    .infer = infer_floating,
    .kernel = &kernels::causal_softmax_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, derived(c.take_cotangent(), c.output(),
                           c.attrs<CausalAttrs>().scale));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0,
                derived(c.tangent(), c.output(), c.attrs<CausalAttrs>().scale));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}},
              .donates = 0b1,
              .rows = rows_before<2>,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              2 * outputs[0].shape.element_count());
              }}};

}  // namespace ops

Tensor causal_softmax(const TensorOperand& x, double scale,
                      std::int64_t diagonal) {
  const Shape& shape = ops::tensor_of("causal_softmax", x).shape();
  if (shape.rank() < 2) {
    base::raise<ShapeError>("causal_softmax: {}, expected scores (..., m, n)",
                            format_shape(shape));
  }
  if (!std::isfinite(scale) || scale <= 0.0) {
    base::raise<ValueError>(
        "causal_softmax: scale is {}, expected a finite number above 0", scale);
  }
  // Further away than the corners is as good as at them.
  const std::int64_t at =
      std::clamp(diagonal, -shape.back(2) - 1, shape.back(1) + 1);
  return graph::apply(ops::kCausalSoftmax, {x}, ops::CausalAttrs{scale, at});
}

}  // namespace neap
