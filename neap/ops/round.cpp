// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/round.hpp"

#include "neap/kernels/rounding.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kRound{
    .name = "round",
    .formula = "y = the nearest whole number, halves to even; dy/dx = 0",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("round", args, out[0]); },
    .kernel = &kernels::round_kernels,
    .vjp = [](VjpContext&) {},
    .jvp = [](JvpContext&) {},
    .facts = {.donates = 0b1}};

}  // namespace ops

Tensor round(const Operand& x) {
  return graph::apply(ops::kRound, {x});
}

}  // namespace neap
