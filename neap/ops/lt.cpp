// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/lt.hpp"

#include "neap/kernels/compare.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kLt{
    .name = "lt",
    .formula = "y = a < b",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_comparison("lt", args, out[0]); },
    .kernel = &kernels::lt_kernels,
    .facts = {}};

}  // namespace ops

Tensor lt(const Operand& a, const Operand& b) {
  const ops::Operands both("lt", a, b);
  return graph::apply(ops::kLt, {both.a(), both.b()});
}

}  // namespace neap
