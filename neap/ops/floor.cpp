// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/floor.hpp"

#include "neap/kernels/rounding.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kFloor{
    .name = "floor",
    .formula = "y = the next whole number down; dy/dx = 0",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("floor", args, out[0]); },
    .kernel = &kernels::floor_kernels,
    .vjp = [](VjpContext&) {},
    .jvp = [](JvpContext&) {},
    .facts = {.donates = 0b1}};

}  // namespace ops

Tensor floor(const Operand& x) {
  return graph::apply(ops::kFloor, {x});
}

}  // namespace neap
