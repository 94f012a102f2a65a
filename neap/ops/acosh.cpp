// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/acosh.hpp"

#include "neap/kernels/hyperbolic.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/rsqrt.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

// x^2 - 1, exact near 1.
Tensor excess(const Tensor& x) {
  return mul(sub(x, 1), add(x, 1));
}

}  // namespace

const Op kAcosh{
    .name = "acosh",
    .formula = "y = arcosh x, dx = dy / sqrt(x^2 - 1)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("acosh", args, out[0]); },
    .kernel = &kernels::acosh_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(), rsqrt(excess(c.input(0)))));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, mul(c.tangent(), rsqrt(excess(c.input()))));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor acosh(const Operand& x) {
  return graph::apply(ops::kAcosh, {x});
}

}  // namespace neap
