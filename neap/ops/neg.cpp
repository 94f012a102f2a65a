// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/neg.hpp"

#include "neap/kernels/neg.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kNeg{
    .name = "neg",
    .formula = "y = -x",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_signed("neg", args, out[0]); },
    .kernel = &kernels::neg_kernels,
    .vjp = [](VjpContext& c) { c.set(0, neg(c.take_cotangent())); },
    .jvp = [](JvpContext& c) { c.set(0, neg(c.tangent())); },
    .facts = {.donates = 0b1}};

}  // namespace ops

Tensor neg(const Operand& x) {
  return graph::apply(ops::kNeg, {x});
}

}  // namespace neap
