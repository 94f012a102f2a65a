// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/eq.hpp"

#include "neap/kernels/compare.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kEq{
    .name = "eq",
    .formula = "y = a == b",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_comparison("eq", args, out[0]); },
    .kernel = &kernels::eq_kernels,
    .facts = {}};

}  // namespace ops

Tensor eq(const Operand& a, const Operand& b) {
  const ops::Operands both("eq", a, b);
  return graph::apply(ops::kEq, {both.a(), both.b()});
}

}  // namespace neap
