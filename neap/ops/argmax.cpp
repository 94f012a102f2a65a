// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/argmax.hpp"

#include "neap/kernels/argmax.hpp"
#include "neap/kernels/attrs.hpp"
#include "neap/ops/reduce.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::AxisAttrs;

void infer_argmax(const OpArgs& args, Spec& out) {
  infer_signed("argmax", args, out);
  const auto axis = static_cast<int>(args.attrs.as<AxisAttrs>().axis);
  if (out.shape[axis] == 0) {
    raise<ValueError>("argmax: axis {} of {} is empty", axis,
                      format_shape(out.shape));
  }
  out.shape[axis] = 1;
  out.dtype = i64;
}

}  // namespace

const Op kArgmax{
    .name = "argmax",
    .formula =
        "y = position of the first largest element of an axis, which stays "
        "with extent 1",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_argmax(args, out[0]); },
    .kernel = &kernels::argmax_kernels,
    .facts = {.sample_axis = SampleAxis::kMixed, .cost = cost_of_reduction}};

}  // namespace ops

Tensor argmax(const Operand& x, std::int64_t axis, bool keepdim) {
  const ops::AtSite here(x);
  const Tensor& value = ops::tensor_of("argmax", x);
  const int along = base::normalize_axis("argmax", axis, value.rank());
  const Tensor kept = graph::apply(ops::kArgmax, {x}, ops::AxisAttrs{along});
  return keepdim ? kept : ops::without_axes(kept, ops::axis_bit(along));
}

}  // namespace neap
