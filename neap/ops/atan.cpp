// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/atan.hpp"

#include "neap/kernels/inverse_trig.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kAtan{
    .name = "atan",
    .formula = "y = arctan x, dx = dy / (x^2 + 1)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("atan", args, out[0]); },
    .kernel = &kernels::atan_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, div(c.take_cotangent(), add(square(c.input(0)), 1)));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, div(c.tangent(), add(square(c.input()), 1)));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor atan(const Operand& x) {
  return graph::apply(ops::kAtan, {x});
}

}  // namespace neap
