// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/argmax.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/argmax.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::ReduceAttrs;

void infer_position(const OpArgs& args, std::span<Spec> out) {
  infer_same(args, out);
  if (out[0].dtype != u8 && out[0].dtype != boolean) {
    check_signed(args.name, out[0].dtype);
  }
  const Shape& shape = args.inputs[0].shape;
  out[0].shape = reduced(shape, args.attrs.as<ReduceAttrs>().axes);
  if (shape.element_count() == 0 && out[0].shape.element_count() != 0) {
    raise<ValueError>("{}: shape {} has no element to choose from", args.name,
                      format_shape(shape));
  }
  out[0].dtype = i64;
}

Tensor argmax_axes(const Operand& x, std::uint64_t axes) {
  return graph::apply(kArgmax, {x}, ReduceAttrs{axes});
}

Tensor argmin_axes(const Operand& x, std::uint64_t axes) {
  return graph::apply(kArgmin, {x}, ReduceAttrs{axes});
}

}  // namespace

const Op kArgmax{
    .name = "argmax",
    .formula =
        "y = position of the first largest element of some axes, which stay "
        "with extent 1",
    .infer = infer_position,
    .kernel = &kernels::argmax_kernels,
    .facts = {.sample_axis = SampleAxis::kMixed, .cost = cost_of_reduction}};

const Op kArgmin{
    .name = "argmin",
    .formula =
        "y = position of the first smallest element of some axes, which stay "
        "with extent 1",
    .infer = infer_position,
    .kernel = &kernels::argmin_kernels,
    .facts = {.sample_axis = SampleAxis::kMixed, .cost = cost_of_reduction}};

}  // namespace ops

Tensor argmax(const Operand& x) {
  const ops::AtSite here(x);
  return ops::over_all("argmax", x, ops::argmax_axes);
}

Tensor argmax(const Operand& x, std::int64_t axis, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("argmax", x, {axis}, keepdim, ops::argmax_axes);
}

Tensor argmin(const Operand& x) {
  const ops::AtSite here(x);
  return ops::over_all("argmin", x, ops::argmin_axes);
}

Tensor argmin(const Operand& x, std::int64_t axis, bool keepdim) {
  const ops::AtSite here(x);
  return ops::over_some("argmin", x, {axis}, keepdim, ops::argmin_axes);
}

}  // namespace neap
