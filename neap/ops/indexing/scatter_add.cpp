// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/scatter_add.hpp"

#include "neap/kernels/indexing/scatter.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/indexing/gather.hpp"
#include "neap/ops/indexing/indices.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::AxisAttrs;

void infer_scatter_add(const OpArgs& args, std::span<Spec> out) {
  check_signed("scatter_add", args.inputs[0].dtype);
  infer_scatter(args, out);
}

void vjp_scatter_add(VjpContext& c) {
  if (c.needs(2)) {
    c.set(2, gather_checked(c.cotangent(),
                            static_cast<int>(c.attrs<AxisAttrs>().axis),
                            c.input(1)));
  }
  if (c.needs(0)) {
    c.set(0, c.take_cotangent());
  }
}

void jvp_scatter_add(JvpContext& c) {
  const Tensor& dx = c.tangent(0);
  const Tensor& dsrc = c.tangent(2);
  if (!dsrc.defined()) {
    c.set(0, dx);
    return;
  }
  const int axis = static_cast<int>(c.attrs<AxisAttrs>().axis);
  c.set(0, dx.defined() ? scatter_add_checked(dx, axis, c.input(1), dsrc)
                        : scatter_add_checked(
                              filled(c.input_spec(0), 0.0, CallSite::here()),
                              axis, c.input(1), dsrc));
}

}  // namespace

const Op kScatterAdd{
    .name = "scatter_add",
    .formula = "y = x; y[.., index[.., i, ..], ..] += src[.., i, ..]",
    .infer = infer_scatter_add,
    .kernel = &kernels::scatter_add_kernels,
    .vjp = vjp_scatter_add,
    .jvp = jvp_scatter_add,
    .facts = {.vjp_reads = {{{}, {}, {.inputs = 0b010}}},
              .donates = 0b001,
              .sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              args.inputs[2].shape.element_count());
              }}};

Tensor scatter_add_checked(const Operand& x, int axis, const Operand& index,
                           const Operand& src) {
  return graph::apply(kScatterAdd, {x, index, src}, AxisAttrs{axis});
}

}  // namespace ops

Tensor scatter_add(const Operand& x, std::int64_t axis, const Operand& index,
                   const Operand& src) {
  const ops::AtSite here(x);
  const Tensor& at = ops::tensor_of("scatter_add", index);
  const int along =
      ops::check_scatter("scatter_add", ops::tensor_of("scatter_add", x), axis,
                         at, ops::tensor_of("scatter_add", src));
  return ops::scatter_add_checked(x, along, index,
                                  ops::cut_to(src, at.shape()));
}

}  // namespace neap
