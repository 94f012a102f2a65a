// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/div.hpp"

#include "neap/kernels/div.hpp"
#include "neap/ops/expand.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kDiv{
    .name = "div",
    .formula = "y = a / b, db = -dy y / b",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_broadcast_floating("div", args, out[0]);
        },
    .kernel = &kernels::div_kernels,
    .vjp =
        [](VjpContext& c) {
          const Tensor quotient = div(c.take_cotangent(), c.input(1));
          if (c.needs(0)) {
            c.set(0, sum_to(quotient, c.input_shape(0)));
          }
          if (c.needs(1)) {
            c.set(1, neg(sum_to(mul(quotient, c.output()), c.input_shape(1))));
          }
        },
    .jvp =
        [](JvpContext& c) {
          Tensor d;
          if (c.tangent(1).defined()) {
            d = neg(mul(c.output(), c.tangent(1)));
          }
          if (c.tangent(0).defined()) {
            d = add_defined(std::move(d), c.tangent(0));
          }
          d = div(std::move(d), c.input(1));
          c.set(0, expand(d, c.output().shape()));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10, .shapes = 0b01},
                             {.inputs = 0b10, .outputs = 0b1}}},
              .donates = 0b11}};

}  // namespace ops

Tensor div(const Operand& a, const Operand& b) {
  const ops::Operands both("div", a, b);
  return graph::apply(ops::kDiv, {both.a(), both.b()});
}

}  // namespace neap
