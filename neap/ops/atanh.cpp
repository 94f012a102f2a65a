// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/atanh.hpp"

#include "neap/kernels/hyperbolic.hpp"
#include "neap/ops/add.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/mul.hpp"
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

const Op kAtanh{
    .name = "atanh",
    .formula = "y = artanh x, dx = dy / (1 - x^2)",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("atanh", args, out[0]); },
    .kernel = &kernels::atanh_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, div(c.take_cotangent(), complement(c.input(0))));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, div(c.tangent(), complement(c.input())));
        },
    .facts = {.vjp_reads = {{{.inputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor atanh(const Operand& x) {
  return graph::apply(ops::kAtanh, {x});
}

}  // namespace neap
