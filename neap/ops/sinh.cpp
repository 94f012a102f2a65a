// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sinh.hpp"

#include "neap/kernels/hyperbolic.hpp"
#include "neap/ops/cosh.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kSinh{
    .name = "sinh",
    .formula = "y = sinh x, dx = dy cosh x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("sinh", args, out[0]); },
    .kernel = &kernels::sinh_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(), cosh(c.input(0))));
        },
    .jvp = [](JvpContext& c) { c.set(0, mul(c.tangent(), cosh(c.input()))); },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor sinh(const Operand& x) {
  return graph::apply(ops::kSinh, {x});
}

}  // namespace neap
