// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/remainder.hpp"

#include "neap/kernels/fmod.hpp"
#include "neap/ops/floor.hpp"
#include "neap/ops/remainder_rules.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kRemainder{
    .name = "remainder",
    .formula = "y = a - b floor(a / b), da = dy, db = -dy floor(a / b)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_broadcast_floating("remainder", args, out[0]);
        },
    .kernel = &kernels::remainder_kernels,
    .vjp = [](VjpContext& c) { remainder_vjp(c, floor); },
    .jvp = [](JvpContext& c) { remainder_jvp(c, floor); },
    .facts = {.vjp_reads = {{{.shapes = 0b1}, {.inputs = 0b11}}},
              .donates = 0b11}};

}  // namespace ops

Tensor remainder(const Operand& a, const Operand& b) {
  const ops::Operands both("remainder", a, b);
  return graph::apply(ops::kRemainder, {both.a(), both.b()});
}

}  // namespace neap
