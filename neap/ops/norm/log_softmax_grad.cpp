// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/log_softmax_grad.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/norm/softmax.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/elementwise/exponential.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

using kernels::AxisAttrs;

Tensor total(const Tensor& x, const AxisAttrs& attrs) {
  return sum_axes(x, axis_bit(static_cast<int>(attrs.axis)));
}

// The derivative by y in the direction d, and its own transpose.
Tensor along_y(const Tensor& g, const Tensor& y, const Tensor& d,
               const AxisAttrs& attrs) {
  return neg(mul(mul(exp(y), d), total(g, attrs)));
}

}  // namespace

const Op kLogSoftmaxGrad{
    .name = "log_softmax_grad",
    .formula = "dx = g - e^y sum(g), for y = log_softmax(x)",
    .infer = infer_gradient,
    .kernel = &kernels::log_softmax_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor& u = c.cotangent();
          const auto attrs = c.attrs<AxisAttrs>();
          if (c.needs(0)) {
            c.set(0, sub(u, total(mul(exp(c.input(1)), u), attrs)));
          }
          if (c.needs(1)) {
            c.set(1, along_y(c.input(0), c.input(1), u, attrs));
          }
        },
    .jvp =
        [](JvpContext& c) {
          const auto attrs = c.attrs<AxisAttrs>();
          const Tensor& y = c.input(1);
          Tensor d;
          if (c.tangent(0).defined()) {
            d = log_softmax_grad(c.tangent(0), y, attrs.axis);
          }
          if (c.tangent(1).defined()) {
            d = add_defined(std::move(d),
                            along_y(c.input(0), y, c.tangent(1), attrs));
          }
          c.set(0, std::move(d));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {.inputs = 0b11}}},
              .donates = 0b11,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              3 * outputs[0].shape.element_count());
              }}};

Tensor log_softmax_grad(const Operand& g, const Operand& y, std::int64_t axis) {
  return graph::apply(kLogSoftmaxGrad, {g, y}, AxisAttrs{axis});
}

}  // namespace ops

}  // namespace neap
