// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log.hpp"

#include "neap/kernels/log.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kLog{
    .name = "log",
    .formula = "y = ln x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("log", args, out[0]); },
    .kernel = &kernels::log_kernels,
    .vjp = [](VjpContext& c) { c.set(0, div(c.take_cotangent(), c.input(0))); },
    .jvp = [](JvpContext& c) { c.set(0, div(c.tangent(), c.input())); },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor log(const Operand& x) {
  return graph::apply(ops::kLog, {x});
}

}  // namespace neap
