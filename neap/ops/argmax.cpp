// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/argmax.hpp"

#include "neap/kernels/argmax.hpp"
#include "neap/kernels/attrs.hpp"
#include "neap/ops/reduce.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::ReduceAttrs;

void infer_position(const char* op, const OpArgs& args, Spec& out) {
  infer_same(op, args, out);
  if (out.dtype != u8 && out.dtype != boolean) {
    check_signed(op, out.dtype);
  }
  const Shape& shape = args.inputs[0].shape;
  out.shape = reduced(shape, args.attrs.as<ReduceAttrs>().axes);
  if (shape.element_count() == 0 && out.shape.element_count() != 0) {
    raise<ValueError>("{}: shape {} has no element to choose from", op,
                      format_shape(shape));
  }
  out.dtype = i64;
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
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_position("argmax", args, out[0]);
        },
    .kernel = &kernels::argmax_kernels,
    .facts = {.sample_axis = SampleAxis::kMixed, .cost = cost_of_reduction}};

const Op kArgmin{
    .name = "argmin",
    .formula =
        "y = position of the first smallest element of some axes, which stay "
        "with extent 1",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_position("argmin", args, out[0]);
        },
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
