// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/slice.hpp"

#include "neap/kernels/shape/slice_put.hpp"
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
    .facts = {}};

Tensor slice_of(const Operand& x, const SliceAttrs& attrs) {
  return graph::apply(kSlice, {x}, attrs);
}

}  // namespace ops

Tensor slice(const TensorOperand& x, std::int64_t axis, std::int64_t start,
             std::int64_t stop, std::int64_t step) {
  const Shape& shape = ops::tensor_of("slice", x).shape();
  const int along = base::normalize_axis("slice", axis, shape.rank());
  const tensor::Range range =
      tensor::cut_range(shape[along], start, stop, step);
  return ops::slice_of(
      x, {along, range.start, range.step, range.count, shape[along]});
}

namespace ops {

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
    .facts = {.rows = rows_beside_axis,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

Tensor slice_put(const Operand& g, const SliceAttrs& attrs) {
  return graph::apply(kSlicePut, {g}, attrs);
}

namespace {

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
              .rows = rows_beside_axis,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              args.inputs[1].shape.element_count());
              }}};

Tensor slice_add(const Operand& x, const Operand& g, const SliceAttrs& attrs) {
  return graph::apply(kSliceAdd, {x, g}, attrs);
}

}  // namespace ops

}  // namespace neap
