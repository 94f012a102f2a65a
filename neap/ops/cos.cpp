// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/cos.hpp"

#include "neap/kernels/trig.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/sin.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kCos{
    .name = "cos",
    .formula = "y = cos x, dx = -dy sin x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("cos", args, out[0]); },
    .kernel = &kernels::cos_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, neg(mul(c.take_cotangent(), sin(c.input(0)))));
        },
    .jvp =
        [](JvpContext& c) { c.set(0, neg(mul(c.tangent(), sin(c.input())))); },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor cos(const Operand& x) {
  return graph::apply(ops::kCos, {x});
}

}  // namespace neap
