// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sign.hpp"

#include "neap/kernels/sign.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kSign{
    .name = "sign",
    .formula = "y = -1, 0 or 1; dy/dx = 0",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_signed("sign", args, out[0]); },
    .kernel = &kernels::sign_kernels,
    .vjp = [](VjpContext&) {},
    .jvp = [](JvpContext&) {},
    .facts = {.donates = 0b1}};

}  // namespace ops

Tensor sign(const Operand& x) {
  return graph::apply(ops::kSign, {x});
}

}  // namespace neap
