// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/softmax.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/norm/softmax.hpp"
#include "neap/ops/norm/softmax_grad.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

using kernels::AxisAttrs;

// The Jacobian is symmetric: one rule serves both directions.
const Op kSoftmax{
    .name = "softmax",
    .formula = "y = e^x / sum e^x; dx = y (dy - sum(dy y))",
    .infer = infer_floating,
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
