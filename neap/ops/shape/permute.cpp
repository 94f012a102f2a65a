// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/permute.hpp"

#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

Shape inverse(const Shape& order) {
  Shape out = order;
  for (int axis = 0; axis < order.rank(); ++axis) {
    out[static_cast<int>(order[axis])] = axis;
  }
  return out;
}

}  // namespace

const Op kPermute{
    .name = "permute",
    .formula = "y = x with its axes in another order",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const Spec& x = args.inputs[0];
          out[0].dtype = x.dtype;
          out[0].shape = tensor::permuted({x.dtype, x.shape, x.shape, 0},
                                          args.attrs.as<ShapeAttrs>().shape())
                             .shape;
        },
    .view =
        [](const Layout& x, const Attrs& attrs) {
          return tensor::permuted(x, attrs.as<ShapeAttrs>().shape());
        },
    .vjp =
        [](VjpContext& c) {
          c.set(0, permute(c.take_cotangent(),
                           inverse(c.attrs<ShapeAttrs>().shape())));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, permute(c.tangent(), c.attrs<ShapeAttrs>().shape()));
        },
    .facts = {.sample_axis = SampleAxis::kMixed}};

}  // namespace ops

Tensor permute(const Operand& x, const Shape& order) {
  const int rank = ops::tensor_of("permute", x).rank();
  Shape axes = order;
  for (int i = 0; i < axes.rank(); ++i) {
    axes[i] = base::normalize_axis("permute", axes[i], rank);
  }
  return graph::apply(ops::kPermute, {x}, ops::ShapeAttrs(axes));
}

}  // namespace neap
