// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/softmax.hpp"

#include "neap/kernels/attrs.hpp"
#include "neap/kernels/softmax.hpp"
#include "neap/ops/softmax_grad.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

using kernels::AxisAttrs;

// The Jacobian is symmetric: one rule serves both directions.
const Op kSoftmax{
    .name = "softmax",
    .formula = "y = e^x / sum e^x; dx = y (dy - sum(dy y))",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating("softmax", args, out[0]);
        },
    .kernel = &kernels::softmax_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, softmax_grad(c.take_cotangent(), c.output(),
                                c.attrs<AxisAttrs>().axis));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, softmax_grad(c.tangent(), c.output(),
                                c.attrs<AxisAttrs>().axis));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}},
              .donates = 0b1,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              4 * outputs[0].shape.element_count());
              }}};

}  // namespace ops

Tensor softmax(const Operand& x, std::int64_t axis) {
  const int rank = ops::tensor_of("softmax", x).rank();
  return graph::apply(
      ops::kSoftmax, {x},
      ops::AxisAttrs{base::normalize_axis("softmax", axis, rank)});
}

}  // namespace neap
