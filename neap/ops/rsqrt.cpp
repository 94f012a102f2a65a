// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/rsqrt.hpp"

#include "neap/kernels/sqrt.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kRsqrt{
    .name = "rsqrt",
    .formula = "y = 1 / sqrt x, dx = -dy y^3 / 2",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("rsqrt", args, out[0]); },
    .kernel = &kernels::rsqrt_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(),
                       mul(mul(square(c.output()), c.output()), -0.5)));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, mul(c.tangent(),
                       mul(mul(square(c.output()), c.output()), -0.5)));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor rsqrt(const Operand& x) {
  return graph::apply(ops::kRsqrt, {x});
}

}  // namespace neap
