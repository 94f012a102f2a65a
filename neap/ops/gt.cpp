// Copyright the Neap authors. SPDX-License-Identifier: Apache-2.0
#include "neap/ops/gt.hpp"

#include "neap/kernels/compare.hpp"
#include "neap/ops/support.hpp"

namespace neap {
namespace ops {

const Op kGt{
    .name = "gt",
    .formula = "y = a > b",
    .infer = [](const OpArgs& args,
                std::span<Spec> out) { infer_comparison("gt", args, out[0]); },
    .kernel = &kernels::gt_kernels,
    .facts = {}};

}  // namespace ops

Tensor gt(const Operand& a, const Operand& b) {
  const ops::Operands both("gt", a, b);
  return graph::apply(ops::kGt, {both.a(), both.b()});
}

}  // namespace neap
