// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/indexing/gather.hpp"

#include "neap/kernels/indexing/gather.hpp"
#include "neap/ops/elementwise/fill.hpp"
#include "neap/ops/indexing/indices.hpp"
#include "neap/ops/indexing/scatter.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::AxisAttrs;

void vjp_gather(VjpContext& c) {
  if (!c.needs(0)) {
    return;
  }
  Tensor sum = c.take_sum(0);
  if (!sum.defined()) {
    const Tensor& g = c.cotangent();
    sum =
        filled({g.dtype(), c.input_shape(0), g.space()}, 0.0, CallSite::here());
  }
  c.set(0, scatter_add_checked(std::move(sum),
                               static_cast<int>(c.attrs<AxisAttrs>().axis),
                               c.input(1), c.take_cotangent()));
}

}  // namespace

const Op kGather{
    .name = "gather",
    .formula = "y[.., i, ..] = x[.., index[.., i, ..], ..]",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          check_index_shape("gather", args.inputs[0], args.inputs[1],
                            static_cast<int>(args.attrs.as<AxisAttrs>().axis));
          out[0].dtype = args.inputs[0].dtype;
          out[0].shape = args.inputs[1].shape;
        },
    .kernel = &kernels::gather_kernels,
    .vjp = vjp_gather,
    .jvp =
        [](JvpContext& c) {
          if (c.tangent().defined()) {
            c.set(0, gather_checked(c.tangent(),
                                    static_cast<int>(c.attrs<AxisAttrs>().axis),
                                    c.input(1)));
          }
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10, .shapes = 0b01}, {}}},
              .rows = rows_of_gather,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                Cost cost =
                    moving({args.name, args.inputs.subspan(1), {}}, outputs, 0);
                cost.read += cost.written;
                return cost;
              }}};

Tensor gather_checked(const Operand& x, int axis, const Operand& index) {
  return graph::apply(kGather, {x, index}, AxisAttrs{axis});
}

}  // namespace ops

Tensor gather(const Operand& x, std::int64_t axis, const Operand& index) {
  const Tensor& from = ops::tensor_of("gather", x);
  const Tensor& at = ops::tensor_of("gather", index);
  const int along = base::normalize_axis("gather", axis, from.rank());
  ops::check_index_shape("gather", from.spec(), at.spec(), along);
  ops::check_indices("gather", at, along, from.shape()[along]);
  return ops::gather_checked(x, along, index);
}

}  // namespace neap
