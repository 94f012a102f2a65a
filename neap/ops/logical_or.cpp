// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/logical_or.hpp"

#include "neap/kernels/logical.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kLogicalOr{.name = "logical_or",
                    .formula = "y = a or b",
                    .infer =
                        [](const OpArgs& args, std::span<Spec> out) {
                          check_dtype("logical_or", args.inputs[0].dtype,
                                      boolean);
                          infer_broadcast("logical_or", args, out[0]);
                        },
                    .kernel = &kernels::logical_or_kernels,
                    .facts = {.donates = 0b11}};

}  // namespace ops

Tensor logical_or(const Operand& a, const Operand& b) {
  const ops::Operands both("logical_or", a, b);
  return graph::apply(ops::kLogicalOr, {both.a(), both.b()});
}

}  // namespace neap
