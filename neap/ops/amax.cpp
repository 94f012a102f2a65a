// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/amax.hpp"

#include "neap/kernels/amax.hpp"
#include "neap/kernels/attrs.hpp"
#include "neap/ops/cast.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/eq.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/reduce.hpp"
#include "neap/ops/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::ReduceAttrs;

void infer_amax(const OpArgs& args, Spec& out) {
  infer_same("amax", args, out);
  if (out.dtype != u8) {
    check_signed("amax", out.dtype);
  }
  const std::uint64_t axes = args.attrs.as<ReduceAttrs>().axes;
  const Shape& shape = args.inputs[0].shape;
  out.shape = reduced(shape, axes);
  if (shape.element_count() == 0 && out.shape.element_count() != 0) {
    raise<ValueError>("amax: shape {} has no element to take the largest of",
                      format_shape(shape));
  }
}

// 1 / n where x is one of the n largest elements, else 0.
Tensor shares(const Tensor& x, const Tensor& y, std::uint64_t axes) {
  const Tensor is_largest = cast(eq(x, y), x.dtype());
  return div(is_largest, sum_axes(is_largest, axes));
}

Tensor amax_axes(const Operand& x, std::uint64_t axes) {
  return axes == 0 ? tensor_of("amax", x)
                   : graph::apply(kAmax, {x}, ReduceAttrs{axes});
}

}  // namespace

const Op kAmax{
    .name = "amax",
    .formula =
        "y = max of x over some axes, which stay with extent 1; equal largest "
        "elements share dy equally",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_amax(args, out[0]); },
    .kernel = &kernels::amax_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0,
                mul(shares(c.input(0), c.output(), c.attrs<ReduceAttrs>().axes),
                    c.take_cotangent()));
        },
    .jvp =
        [](JvpContext& c) {
          const std::uint64_t axes = c.attrs<ReduceAttrs>().axes;
          c.set(0,
                sum_axes(mul(shares(c.input(), c.output(), axes), c.tangent()),
                         axes));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1, .outputs = 0b1}}},
              .sample_axis = SampleAxis::kMixed,
              .cost = cost_of_reduction}};

}  // namespace ops

Tensor amax(const Operand& x) {
  const ops::AtSite here(x);
  const std::uint64_t mask = ops::all_axes(ops::tensor_of("amax", x).rank());
  return ops::without_axes(ops::amax_axes(x, mask), mask);
}

Tensor amax(const Operand& x, const Shape& axes, bool keepdim) {
  const ops::AtSite here(x);
  const std::uint64_t mask =
      ops::axes_mask("amax", axes, ops::tensor_of("amax", x).rank());
  const Tensor kept = ops::amax_axes(x, mask);
  return keepdim ? kept : ops::without_axes(kept, mask);
}

}  // namespace neap
