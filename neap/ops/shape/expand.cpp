// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/shape/expand.hpp"

#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kExpand{
    .name = "expand",
    .formula = "y = x, broadcast",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const Spec& x = args.inputs[0];
          out[0].dtype = x.dtype;
          out[0].shape = tensor::expanded({x.dtype, x.shape, x.shape, 0},
                                          args.attrs.as<ShapeAttrs>().shape())
                             .shape;
        },
    .view =
        [](const Layout& x, const Attrs& attrs) {
          return tensor::expanded(x, attrs.as<ShapeAttrs>().shape());
        },
    .vjp =
        [](VjpContext& c) {
          c.set(0, sum_to(c.take_cotangent(), c.input_shape(0)));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, expand(c.tangent(), c.output().shape()));
        },
    .facts = {.vjp_reads = {{{.shapes = 0b1}}},
              .sample_axis = SampleAxis::kMixed}};

}  // namespace ops

Tensor expand(const Operand& x, const Shape& shape) {
  const Tensor& from = ops::tensor_of("expand", x);
  return from.shape() == shape
             ? from
             : graph::apply(ops::kExpand, {x}, ops::ShapeAttrs(shape));
}

}  // namespace neap
