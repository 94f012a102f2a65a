// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/fmod.hpp"

#include "neap/kernels/fmod.hpp"
#include "neap/ops/remainder_rules.hpp"
#include "neap/ops/support.hpp"
#include "neap/ops/trunc.hpp"

namespace neap {
namespace ops {

const Op kFmod{
    .name = "fmod",
    .formula = "y = a - b trunc(a / b), da = dy, db = -dy trunc(a / b)",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_broadcast_floating("fmod", args, out[0]);
        },
    .kernel = &kernels::fmod_kernels,
    .vjp = [](VjpContext& c) { remainder_vjp(c, trunc); },
    .jvp = [](JvpContext& c) { remainder_jvp(c, trunc); },
    .facts = {.vjp_reads = {{{.shapes = 0b1}, {.inputs = 0b11}}},
              .donates = 0b11}};

}  // namespace ops

Tensor fmod(const Operand& a, const Operand& b) {
  const ops::Operands both("fmod", a, b);
  return graph::apply(ops::kFmod, {both.a(), both.b()});
}

}  // namespace neap
