// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/slice.hpp"

#include "neap/ops/shape/slice_add.hpp"
#include "neap/ops/shape/slice_put.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::SliceAttrs;

// Into the sum of what other slices of x gave, so that a walk over hundreds of
// them costs what all of them hold.
void vjp_slice(VjpContext& c) {
  const auto attrs = c.attrs<SliceAttrs>();
  Tensor sum = c.take_sum(0);
  c.set(0, sum.defined() ? slice_add(std::move(sum), c.take_cotangent(), attrs)
                         : slice_put(c.take_cotangent(), attrs));
}

}  // namespace

const Op kSlice{
    .name = "slice",
    .formula = "y = every step-th element of a range of one axis of x",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const auto& attrs = args.attrs.as<SliceAttrs>();
          out[0].dtype = args.inputs[0].dtype;
          out[0].shape = args.inputs[0].shape;
          out[0].shape[static_cast<int>(attrs.axis)] = attrs.count;
        },
    .view =
        [](const Layout& x, const Attrs& attrs) {
          const auto& a = attrs.as<SliceAttrs>();
          return tensor::sliced(x, static_cast<int>(a.axis),
                                {a.start, a.step, a.count});
        },
    .vjp = vjp_slice,
    .jvp =
        [](JvpContext& c) {
          c.set(0, slice_of(c.tangent(), c.attrs<SliceAttrs>()));
        },
    .facts = {.sample_axis = SampleAxis::kMixed}};

Tensor slice_of(const Operand& x, const SliceAttrs& attrs) {
  return graph::apply(kSlice, {x}, attrs);
}

}  // namespace ops

Tensor slice(const Operand& x, std::int64_t axis, std::int64_t start,
             std::int64_t stop, std::int64_t step) {
  const Shape& shape = ops::tensor_of("slice", x).shape();
  const int along = base::normalize_axis("slice", axis, shape.rank());
  const tensor::Range range =
      tensor::cut_range(shape[along], start, stop, step);
  return ops::slice_of(
      x, {along, range.start, range.step, range.count, shape[along]});
}

}  // namespace neap
