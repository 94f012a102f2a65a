// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log1p.hpp"

#include "neap/kernels/log.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kLog1p{
    .name = "log1p",
    .formula = "y = ln(1 + x), dx = dy / (1 + x)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("log1p", args, out[0]); },
    .kernel = &kernels::log1p_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, div(c.take_cotangent(), add(c.input(0), 1)));
        },
    .jvp = [](JvpContext& c) { c.set(0, div(c.tangent(), add(c.input(), 1))); },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor log1p(const Operand& x) {
  return graph::apply(ops::kLog1p, {x});
}

}  // namespace neap
