// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/logical_xor.hpp"

#include "neap/kernels/logical.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kLogicalXor{.name = "logical_xor",
                     .formula = "y = a or b, but not both",
                     .infer =
                         [](const OpArgs& args, std::span<Spec> out) {
                           check_dtype("logical_xor", args.inputs[0].dtype,
                                       boolean);
                           infer_broadcast("logical_xor", args, out[0]);
                         },
                     .kernel = &kernels::logical_xor_kernels,
                     .facts = {.donates = 0b11}};

}  // namespace ops

Tensor logical_xor(const Operand& a, const Operand& b) {
  const ops::Operands both("logical_xor", a, b);
  return graph::apply(ops::kLogicalXor, {both.a(), both.b()});
}

}  // namespace neap
