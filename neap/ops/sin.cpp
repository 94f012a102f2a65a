// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sin.hpp"

#include "neap/kernels/trig.hpp"
#include "neap/ops/cos.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kSin{
    .name = "sin",
    .formula = "y = sin x, dx = dy cos x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("sin", args, out[0]); },
    .kernel = &kernels::sin_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(), cos(c.input(0))));
        },
    .jvp = [](JvpContext& c) { c.set(0, mul(c.tangent(), cos(c.input()))); },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor sin(const Operand& x) {
  return graph::apply(ops::kSin, {x});
}

}  // namespace neap
