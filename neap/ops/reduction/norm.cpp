// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/norm.hpp"

#include <cmath>

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/norm.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/cast.hpp"
#include "neap/ops/elementwise/comparison.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/elementwise/where.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::NormAttrs;

// dy/dx times g, of y's shape; undefined where it is zero everywhere.
Tensor slope_times(const NormAttrs& attrs, const Tensor& x, const Tensor& y,
                   Tensor g) {
  if (attrs.p == 0.0) {
    return {};
  }
  if (attrs.p == 2.0) {
    return mul(x, mul(std::move(g), inverse_or_zero(y)));
  }
  if (attrs.p == 1.0) {
    return mul(sign(x), g);
  }
  const Tensor is_chosen = cast(eq(abs(x), y), x.dtype());
  return mul(mul(sign(x), is_chosen),
             div(std::move(g), sum_axes(is_chosen, attrs.axes)));
}

// x^p for p > 0, with the derivative 0 where x is, as PyTorch's norms have it:
// that of the power may be infinite there.
Tensor power_or_zero(const Tensor& x, double p) {
  const Tensor is_zero = eq(x, 0);
  return where(is_zero, 0, pow(where(is_zero, 1, x), p));
}

Tensor norm_axes(const Operand& x, double p, std::uint64_t axes) {
  const bool has_kernel = p == 0.0 || p == 1.0 || p == 2.0 || std::isinf(p);
  if (has_kernel) {
    return graph::apply(kNorm, {x}, NormAttrs{axes, p});
  }
  if (std::isnan(p)) {
    raise<ValueError>("norm: p is NaN, expected a number");
  }
  if (p < 0.0) {
    return pow(sum_axes(pow(abs(x), p), axes), 1.0 / p);
  }
  return power_or_zero(sum_axes(power_or_zero(abs(x), p), axes), 1.0 / p);
}

}  // namespace

const Op kNorm{
    .name = "norm",
    .formula =
        "y = p-norm of x over some axes, which stay with extent 1, for p of 0, "
        "1, 2 and infinities; dx = dy x / y for 2 (0 where y is), dy sign x "
        "for 1, shared by the equal largest for inf",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating(args, out);
          out[0].shape =
              reduced(args.inputs[0].shape, args.attrs.as<NormAttrs>().axes);
        },
    .kernel = &kernels::norm_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, slope_times(c.attrs<NormAttrs>(), c.input(0), c.output(),
                               c.take_cotangent()));
        },
    .jvp =
        [](JvpContext& c) {
          const auto attrs = c.attrs<NormAttrs>();
          const Tensor one = constant(1.0, c.input().dtype(), c.input().space(),
                                      CallSite::here());
          const Tensor slope = slope_times(attrs, c.input(), c.output(),
                                           expand(one, c.output().shape()));
          if (slope.defined()) {
            c.set(0, sum_axes(mul(slope, c.tangent()), attrs.axes));
          }
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1, .outputs = 0b1}}},
              .rows = rows_of_reduction,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              2 * args.inputs[0].shape.element_count());
              }}};

}  // namespace ops

Tensor norm(const TensorOperand& x, double p) {
  const ops::AtSite here(x);
  const std::uint64_t mask = ops::all_axes(ops::tensor_of("norm", x).rank());
  return ops::without_axes(ops::norm_axes(x, p, mask), mask);
}

Tensor norm(const TensorOperand& x, double p, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  const std::uint64_t mask =
      ops::axes_mask("norm", axes, ops::tensor_of("norm", x).rank());
  const Tensor kept = ops::norm_axes(x, p, mask);
  return keepdim ? kept : ops::without_axes(kept, mask);
}

}  // namespace neap
