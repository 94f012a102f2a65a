// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/mul.hpp"

#include "neap/kernels/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kMul{
    .name = "mul",
    .formula = "y = a b, element by element",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_arithmetic("mul", args, out[0]); },
    .kernel = &kernels::mul_kernels,
    .vjp =
        [](VjpContext& c) {
          for (int i = 0; i < 2; ++i) {
            if (c.needs(i)) {
              c.set(i, sum_to(mul(c.cotangent(), c.input(1 - i)),
                              c.input_shape(i)));
            }
          }
        },
    .jvp =
        [](JvpContext& c) {
          Tensor d;
          for (int i = 0; i < 2; ++i) {
            if (c.tangent(i).defined()) {
              d = add_defined(std::move(d), mul(c.tangent(i), c.input(1 - i)));
            }
          }
          c.set(0, std::move(d));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b10, .shapes = 0b01},
                             {.inputs = 0b01, .shapes = 0b10}}},
              .donates = 0b11}};

}  // namespace ops

Tensor mul(const Operand& a, const Operand& b) {
  const ops::Operands both("mul", a, b);
  return graph::apply(ops::kMul, {both.a(), both.b()});
}

}  // namespace neap
