// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/asin.hpp"

#include "neap/kernels/inverse_trig.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/rsqrt.hpp"
#include "neap/ops/sub.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {
namespace {

// 1 - x^2, exact near 1 and -1.
Tensor complement(const Tensor& x) {
  return mul(sub(1, x), add(x, 1));
}

}  // namespace

const Op kAsin{
    .name = "asin",
    .formula = "y = arcsin x, dx = dy / sqrt(1 - x^2)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("asin", args, out[0]); },
    .kernel = &kernels::asin_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, mul(c.take_cotangent(), rsqrt(complement(c.input(0)))));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, mul(c.tangent(), rsqrt(complement(c.input()))));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor asin(const Operand& x) {
  return graph::apply(ops::kAsin, {x});
}

}  // namespace neap
