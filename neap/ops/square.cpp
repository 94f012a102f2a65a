// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/square.hpp"

#include "neap/kernels/square.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kSquare{
    .name = "square",
    .formula = "y = x^2",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_signed("square", args, out[0]); },
    .kernel = &kernels::square_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(mul(c.input(0), 2), c.take_cotangent()));
        },
    .jvp = [](JvpContext& c) { c.set(0, mul(mul(c.input(), 2), c.tangent())); },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor square(const Operand& x) {
  return graph::apply(ops::kSquare, {x});
}

}  // namespace neap
