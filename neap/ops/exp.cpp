// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/exp.hpp"

#include "neap/kernels/exp.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kExp{
    .name = "exp",
    .formula = "y = e^x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("exp", args, out[0]); },
    .kernel = &kernels::exp_kernels,
    .vjp = [](VjpContext& c) { c.set(0, mul(c.take_cotangent(), c.output())); },
    .jvp = [](JvpContext& c) { c.set(0, mul(c.tangent(), c.output())); },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor exp(const Operand& x) {
  return graph::apply(ops::kExp, {x});
}

}  // namespace neap
