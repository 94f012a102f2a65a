// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/log_softmax.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/norm/softmax.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/norm/log_softmax_grad.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::AxisAttrs;

}  // namespace

const Op kLogSoftmax{
    .name = "log_softmax",
    .formula = "y = x - log sum e^x; dx = dy - e^y sum(dy)",
    .infer = infer_floating,
    .kernel = &kernels::log_softmax_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, log_softmax_grad(c.take_cotangent(), c.output(),
                                    c.attrs<AxisAttrs>().axis));
        },
    .jvp =
        [](JvpContext& c) {
          const Tensor& dx = c.tangent();
          const auto axis = static_cast<int>(c.attrs<AxisAttrs>().axis);
          c.set(0, sub(dx, sum_axes(mul(exp(c.output()), dx), axis_bit(axis))));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}},
              .donates = 0b1,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              4 * outputs[0].shape.element_count());
              }}};

}  // namespace ops

Tensor log_softmax(const Operand& x, std::int64_t axis) {
  const int rank = ops::tensor_of("log_softmax", x).rank();
  return graph::apply(
      ops::kLogSoftmax, {x},
      ops::AxisAttrs{base::normalize_axis("log_softmax", axis, rank)});
}

}  // namespace neap
