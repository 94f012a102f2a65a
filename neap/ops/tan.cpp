// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/tan.hpp"

#include "neap/kernels/trig.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kTan{
    .name = "tan",
    .formula = "y = tan x, dx = dy (y^2 + 1)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("tan", args, out[0]); },
    .kernel = &kernels::tan_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(), add(square(c.output()), 1)));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, mul(c.tangent(), add(square(c.output()), 1)));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor tan(const Operand& x) {
  return graph::apply(ops::kTan, {x});
}

}  // namespace neap
