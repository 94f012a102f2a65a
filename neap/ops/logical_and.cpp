// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/logical_and.hpp"

#include "neap/kernels/logical.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kLogicalAnd{.name = "logical_and",
                     .formula = "y = a and b",
                     .infer =
                         [](const OpArgs& args, std::span<Spec> out) {
                           check_dtype("logical_and", args.inputs[0].dtype,
                                       boolean);
                           infer_broadcast("logical_and", args, out[0]);
                         },
                     .kernel = &kernels::logical_and_kernels,
                     .facts = {.donates = 0b11}};

}  // namespace ops

Tensor logical_and(const Operand& a, const Operand& b) {
  const ops::Operands both("logical_and", a, b);
  return graph::apply(ops::kLogicalAnd, {both.a(), both.b()});
}

}  // namespace neap
