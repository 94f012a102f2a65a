// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/asinh.hpp"

#include "neap/kernels/hyperbolic.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/rsqrt.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kAsinh{
    .name = "asinh",
    .formula = "y = arsinh x, dx = dy / sqrt(x^2 + 1)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("asinh", args, out[0]); },
    .kernel = &kernels::asinh_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(), rsqrt(add(square(c.input(0)), 1))));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, mul(c.tangent(), rsqrt(add(square(c.input()), 1))));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor asinh(const Operand& x) {
  return graph::apply(ops::kAsinh, {x});
}

}  // namespace neap
