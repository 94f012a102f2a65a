// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/ceil.hpp"

#include "neap/kernels/rounding.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kCeil{
    .name = "ceil",
    .formula = "y = the next whole number up; dy/dx = 0",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("ceil", args, out[0]); },
    .kernel = &kernels::ceil_kernels,
    .vjp = [](VjpContext&) {},
    .jvp = [](JvpContext&) {},
    .facts = {.donates = 0b1}};

}  // namespace ops

Tensor ceil(const Operand& x) {
  return graph::apply(ops::kCeil, {x});
}

}  // namespace neap
