// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/expm1.hpp"

#include "neap/kernels/exp.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kExpm1{
    .name = "expm1",
    .formula = "y = e^x - 1, dx = dy (y + 1)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("expm1", args, out[0]); },
    .kernel = &kernels::expm1_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(), add(c.output(), 1)));
        },
    .jvp =
        [](JvpContext& c) { c.set(0, mul(c.tangent(), add(c.output(), 1))); },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor expm1(const Operand& x) {
  return graph::apply(ops::kExpm1, {x});
}

}  // namespace neap
