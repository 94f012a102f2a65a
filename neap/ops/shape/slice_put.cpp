// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/slice_put.hpp"

#include "neap/kernels/shape/slice_put.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::SliceAttrs;

}  // namespace

const Op kSlicePut{
    .name = "slice_put",
    .formula = "y = 0, but x at every step-th element of a range of one axis",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const auto& attrs = args.attrs.as<SliceAttrs>();
          infer_same(args, out);
          out[0].shape[static_cast<int>(attrs.axis)] = attrs.extent;
        },
    .kernel = &kernels::slice_put_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, slice_of(c.take_cotangent(), c.attrs<SliceAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, slice_put(c.tangent(), c.attrs<SliceAttrs>()));
        },
    .facts = {.sample_axis = SampleAxis::kMixed,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

Tensor slice_put(const Operand& g, const SliceAttrs& attrs) {
  return graph::apply(kSlicePut, {g}, attrs);
}

}  // namespace ops

}  // namespace neap
