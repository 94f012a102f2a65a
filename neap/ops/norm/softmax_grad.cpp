// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/norm/softmax_grad.hpp"

#include "neap/kernels/engine/attrs.hpp"
#include "neap/kernels/norm/softmax.hpp"
#include "neap/ops/elementwise/arithmetic.hpp"
#include "neap/ops/reduction/reduce.hpp"
#include "neap/ops/reduction/sum.hpp"
#include "neap/ops/support.hpp"

namespace neap::ops {

using kernels::AxisAttrs;

namespace {

// The derivative by y in the direction d, and its own transpose: with s =
// sum(g y), it is d (g - s) - y sum(g d) one way and d (g - s) - g sum(y d) the
// other.
Tensor along_y(const Tensor& g, const Tensor& y, const Tensor& d,
               const AxisAttrs& attrs, bool is_transposed) {
  const std::uint64_t axis = axis_bit(static_cast<int>(attrs.axis));
  Tensor own = mul(d, sub(g, sum_axes(mul(g, y), axis)));
  const Tensor& outer = is_transposed ? g : y;
  const Tensor& inner = is_transposed ? y : g;
  return sub(std::move(own), mul(outer, sum_axes(mul(inner, d), axis)));
}

}  // namespace

const Op kSoftmaxGrad{
    .name = "softmax_grad",
    .formula = "dx = y (g - sum(g y)), for y = softmax(x)",
    .infer = infer_gradient,
    .kernel = &kernels::softmax_grad_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor& u = c.cotangent();
          const auto attrs = c.attrs<AxisAttrs>();
          if (c.needs(0)) {  // symmetric
            c.set(0, softmax_grad(u, c.input(1), attrs.axis));
          }
          if (c.needs(1)) {
            c.set(1, along_y(c.input(0), c.input(1), u, attrs, true));
          }
        },
    .jvp =
        [](JvpContext& c) {
          const auto attrs = c.attrs<AxisAttrs>();
          const Tensor& y = c.input(1);
          Tensor d;
          if (c.tangent(0).defined()) {
            d = softmax_grad(c.tangent(0), y, attrs.axis);
          }
          if (c.tangent(1).defined()) {
            d = add_defined(std::move(d),
                            along_y(c.input(0), y, c.tangent(1), attrs, false));
          }
          c.set(0, std::move(d));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10}, {.inputs = 0b11}}},
              .donates = 0b11,
              .cost = [](const OpArgs& args, std::span<const Spec> outputs) {
                return moving(args, outputs,
                              4 * outputs[0].shape.element_count());
              }}};

Tensor softmax_grad(const Operand& g, const Operand& y, std::int64_t axis) {
  return graph::apply(kSoftmaxGrad, {g, y}, AxisAttrs{axis});
}

}  // namespace neap::ops
