// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/sqrt.hpp"

#include "neap/kernels/sqrt.hpp"
#include "neap/ops/div.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kSqrt{
    .name = "sqrt",
    .formula = "y = sqrt x, dx = dy / 2y",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_floating("sqrt", args, out[0]); },
    .kernel = &kernels::sqrt_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, div(c.take_cotangent(), mul(c.output(), 2)));
        },
    .jvp =
        [](JvpContext& c) { c.set(0, div(c.tangent(), mul(c.output(), 2))); },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor sqrt(const Operand& x) {
  return graph::apply(ops::kSqrt, {x});
}

}  // namespace neap
