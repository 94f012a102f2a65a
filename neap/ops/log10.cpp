// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log10.hpp"

#include "neap/kernels/log.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

constexpr double kLn10 = 2.302585092994046;

}  // namespace

const Op kLog10{
    .name = "log10",
    .formula = "y = log10 x, dx = dy / (x ln 10)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("log10", args, out[0]); },
    .kernel = &kernels::log10_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, div(c.take_cotangent(), mul(c.input(0), kLn10)));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, div(c.tangent(), mul(c.input(), kLn10)));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor log10(const Operand& x) {
  return graph::apply(ops::kLog10, {x});
}

}  // namespace neap
