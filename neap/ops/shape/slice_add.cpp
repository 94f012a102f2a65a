// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/slice_add.hpp"

#include "neap/kernels/shape/slice_put.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/slice_put.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {
namespace {

using kernels::SliceAttrs;

void infer_slice_add(const OpArgs& args, std::span<Spec> out) {
  infer_signed(args, out);
  const auto& attrs = args.attrs.as<SliceAttrs>();
  Shape part = out[0].shape;
  part[static_cast<int>(attrs.axis)] = attrs.count;
  if (args.inputs[1].shape != part) {
    raise<ShapeError>("slice_add: a part {}, expected {}",
                      format_shape(args.inputs[1].shape), format_shape(part));
  }
}

void vjp_slice_add(VjpContext& c) {
  if (c.needs(1)) {
    c.set(1, slice_of(c.cotangent(), c.attrs<SliceAttrs>()));
  }
  if (c.needs(0)) {
    c.set(0, c.take_cotangent());
  }
}

void jvp_slice_add(JvpContext& c) {
  const auto& attrs = c.attrs<SliceAttrs>();
  const Tensor& dx = c.tangent(0);
  const Tensor& dg = c.tangent(1);
  c.set(0, !dg.defined()  ? dx
           : dx.defined() ? slice_add(dx, dg, attrs)
                          : slice_put(dg, attrs));
}

}  // namespace

const Op kSliceAdd{
    .name = "slice_add",
    .formula = "y = x, with g added at every step-th element of a range",
    .infer = infer_slice_add,
    .kernel = &kernels::slice_add_kernels,
    .vjp = vjp_slice_add,
    .jvp = jvp_slice_add,
    .facts = {.donates = 0b01,
              .sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              args.inputs[1].shape.element_count());
              }}};

Tensor slice_add(const Operand& x, const Operand& g, const SliceAttrs& attrs) {
  return graph::apply(kSliceAdd, {x, g}, attrs);
}

}  // namespace neap::ops
