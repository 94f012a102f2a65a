// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reduction/cumsum.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/reduction/cumsum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::CumulateAttrs;

Tensor cumsum_by(const Operand& x, const CumulateAttrs& attrs) {
  return graph::apply(kCumsum, {x}, attrs);
}

}  // namespace

const Op kCumsum{
    .name = "cumsum",
    .formula =
        "y_i = x_0 + .. + x_i along an axis, or from its end; dx is the sum of "
        "dy the other way round",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          const DType dtype = args.inputs[0].dtype;
          if (dtype == bf16) {
            check_computes("cumsum", dtype);
          }
          out[0].dtype = is_floating(dtype) ? dtype : i64;
          out[0].shape = args.inputs[0].shape;
        },
    .kernel = &kernels::cumsum_kernels,
    .vjp =
        [](VjpContext& c) {
          auto attrs = c.attrs<CumulateAttrs>();
          attrs.reverse = !attrs.reverse;
          c.set(0, cumsum_by(c.take_cotangent(), attrs));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, cumsum_by(c.tangent(), c.attrs<CumulateAttrs>()));
        },
    .facts = {.donates = 0b1, .rows = rows_beside_axis}};

}  // namespace ops

Tensor cumsum(const TensorOperand& x, std::int64_t axis, bool reverse) {
  const int rank = ops::tensor_of("cumsum", x).rank();
  return ops::cumsum_by(x, {.axis = base::normalize_axis("cumsum", axis, rank),
                            .reverse = reverse});
}

}  // namespace neap
