// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/flip.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/shape/flip.hpp"
#include "neap/ops/shape/axes.hpp"
#include "neap/ops/shape/concat.hpp"
#include "neap/ops/shape/slice.hpp"
#include "neap/ops/shape/views.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::ReduceAttrs;

Tensor flip_of(const Operand& x, const ReduceAttrs& axes) {
  return graph::apply(kFlip, {x}, axes);
}

}  // namespace

const Op kFlip{
    .name = "flip",
    .formula = "y[.., n - 1 - i, ..] = x[.., i, ..]",
    .infer = infer_same,
    .kernel = &kernels::flip_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, flip_of(c.take_cotangent(), c.attrs<ReduceAttrs>()));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, flip_of(c.tangent(), c.attrs<ReduceAttrs>()));
        },
    .facts = {.rows = rows_beside_axes,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs, 0);
              }}};

}  // namespace ops

Tensor flip(const TensorOperand& x, const Shape& axes) {
  const int rank = ops::tensor_of("flip", x).rank();
  return ops::flip_of(x, {ops::axes_mask("flip", axes, rank)});
}

Tensor roll(const TensorOperand& x, std::int64_t shift, std::int64_t axis) {
  const ops::AtSite here(x);
  const Tensor& from = ops::tensor_of("roll", x);
  const int along = base::normalize_axis("roll", axis, from.rank());
  const std::int64_t extent = from.shape()[along];
  const std::int64_t by = extent == 0 ? 0 : shift % extent;
  if (by == 0) {
    return from;
  }
  const std::int64_t cut = by < 0 ? -by : extent - by;
  return concat({ops::slice_of(from, {along, cut, 1, extent - cut, extent}),
                 ops::slice_of(from, {along, 0, 1, cut, extent})},
                along);
}

Tensor roll(const TensorOperand& x, std::int64_t shift) {
  const ops::AtSite here(x);
  const Tensor& from = ops::tensor_of("roll", x);
  return reshape(roll(reshape(x, {from.element_count()}), shift, 0),
                 from.shape());
}

}  // namespace neap
