// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/log2.hpp"

#include "neap/kernels/log.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

constexpr double kLn2 = 0.6931471805599453;

}  // namespace

const Op kLog2{
    .name = "log2",
    .formula = "y = log2 x, dx = dy / (x ln 2)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("log2", args, out[0]); },
    .kernel = &kernels::log2_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, div(c.take_cotangent(), mul(c.input(0), kLn2)));
        },
    .jvp =
        [](JvpContext& c) { c.set(0, div(c.tangent(), mul(c.input(), kLn2))); },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor log2(const Operand& x) {
  return graph::apply(ops::kLog2, {x});
}

}  // namespace neap
