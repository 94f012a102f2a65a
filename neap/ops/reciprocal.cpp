// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/reciprocal.hpp"

#include "neap/kernels/reciprocal.hpp"
#include "neap/ops/mul.hpp"
#include "neap/ops/neg.hpp"
#include "neap/ops/square.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kReciprocal{
    .name = "reciprocal",
    .formula = "y = 1 / x, dx = -dy y^2",
    .infer =
        [](const OpArgs& args, std::span<Spec> out) {
          infer_floating("reciprocal", args, out[0]);
        },
    .kernel = &kernels::reciprocal_kernels,
    .vjp =
        [](VjpContext& c) {
          c.set(0, neg(mul(c.take_cotangent(), square(c.output()))));
        },
    .jvp =
        [](JvpContext& c) {
          c.set(0, neg(mul(c.tangent(), square(c.output()))));
        },
    .facts = {.vjp_reads = {{{.outputs = 0b1}}}, .donates = 0b1}};

}  // namespace ops

Tensor reciprocal(const Operand& x) {
  return graph::apply(ops::kReciprocal, {x});
}

}  // namespace neap
