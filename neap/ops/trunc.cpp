// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/trunc.hpp"

#include "neap/kernels/rounding.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kTrunc{
    .name = "trunc",
    .formula = "y = the next whole number towards 0; dy/dx = 0",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("trunc", args, out[0]); },
    .kernel = &kernels::trunc_kernels,
    .vjp = [](VjpContext&) {},
    .jvp = [](JvpContext&) {},
    .facts = {.donates = 0b1}};

}  // namespace ops

Tensor trunc(const Operand& x) {
  return graph::apply(ops::kTrunc, {x});
}

}  // namespace neap
