// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/cosh.hpp"

#include "neap/kernels/hyperbolic.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/sinh.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kCosh{
    .name = "cosh",
    .formula = "y = cosh x, dx = dy sinh x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("cosh", args, out[0]); },
    .kernel = &kernels::cosh_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(), sinh(c.input(0))));
        },
    .jvp = [](JvpContext& c) { c.set(0, mul(c.tangent(), sinh(c.input()))); },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor cosh(const Operand& x) {
  return graph::apply(ops::kCosh, {x});
}

}  // namespace neap
