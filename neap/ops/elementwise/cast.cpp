// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/elementwise/cast.hpp"

#include "neap/kernels/elementwise/cast.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kCast{.name = "cast",
               .formula = "y = x, in another dtype",
               .infer =
                   [](const OpArgs& args, std::span<Spec> out) {
                     out[0].dtype = args.attrs.as<CastAttrs>().to;
                     out[0].shape = args.inputs[0].shape;
                   },
               .kernel = &kernels::cast_kernels,
               .vjp =
                   [](VjpContext& c) {
                     c.set(0,
                           cast(c.take_cotangent(), c.attrs<CastAttrs>().from));
                   },
               .jvp =
                   [](JvpContext& c) {
                     c.set(0, cast(c.tangent(), c.attrs<CastAttrs>().to));
                   },
               .facts = {.rows = rows_by_element}};

}  // namespace ops

Tensor cast(const TensorOperand& x, DType dtype) {
  const Tensor& from = ops::tensor_of("cast", x);
  if (from.dtype() == dtype) {
    return from;
  }
  return graph::apply(ops::kCast, {x}, ops::CastAttrs{from.dtype(), dtype});
}

}  // namespace neap
